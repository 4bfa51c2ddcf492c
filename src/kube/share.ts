// Keeps equal parts of objects once. Children of one controller are much alike: the same probes, the same defaults from
// the server, one owner for all children of a parent. What was just parsed is replaced, part by part, by what is held
// already, so the cache weighs what differs. Everything is frozen, since a change of one part would change them all.

type Part = unknown[] | Record<string, unknown>;

/** What was seen lately. A slot is simply taken by the next part that falls on it, so the tables never grow. */
const strings: string[] = Array.from({ length: 2 ** 13 }, () => '');
const parts: Part[] = Array.from({ length: 2 ** 14 }, () => Object.freeze([]) as unknown as Part);

/** Longer texts are hardly ever equal, and a table that holds them would hold on to them. */
const longestShared = 128;
/** Whether what is being looked at holds such a text somewhere: then it is not remembered as a part either. */
let heavy = false;

/** The hash of what `shared` gave last: a second result without an allocation. */
let hash = 0;

/** Replaces the parts of a freshly parsed object, which nobody else holds yet, by equal ones that are held already. */
export function shareParts(object: object): void {
  shareMembers(object as Record<string, unknown>);
  Object.freeze(object);
}

function shared(value: unknown): unknown {
  if (typeof value === 'string') return sharedString(value);
  if (typeof value === 'object' && value !== null) return sharedPart(value as Part);
  hash = typeof value === 'number' ? value | 0 : Number(value === true);
  return value;
}

function sharedPart(part: Part): Part {
  const outer = heavy;
  heavy = false;
  hash = Array.isArray(part) ? shareItems(part) : shareMembers(part);
  const own = heavy;
  heavy ||= outer;
  if (own) return Object.freeze(part) as Part;
  const slot = (hash ^ (hash >>> 15)) & (parts.length - 1);
  const held = parts[slot];
  if (held && same(held, part)) return held;
  parts[slot] = Object.freeze(part) as Part;
  return part;
}

function sharedString(text: string): string {
  let sum = text.length;
  heavy ||= text.length > longestShared;
  if (text.length > longestShared) {
    hash = sum;
    return text;
  }
  for (let at = 0; at < text.length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  hash = sum;
  const slot = (sum ^ (sum >>> 13)) & (strings.length - 1);
  const held = strings[slot];
  if (held === text) return held;
  strings[slot] = text;
  return text;
}

function shareItems(items: unknown[]): number {
  let sum = items.length;
  for (let at = 0; at < items.length; at++) {
    items[at] = shared(items[at]);
    sum = (Math.imul(sum, 31) + hash) | 0;
  }
  return sum;
}

function shareMembers(members: Record<string, unknown>): number {
  let sum = 7;
  for (const key in members) {
    members[key] = shared(members[key]);
    sum = (Math.imul(sum, 31) + hash) | 0;
  }
  return sum;
}

/** Whether two parts, whose own parts are shared already, have the same members. */
function same(a: Part, b: Part): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b);
  return !Array.isArray(b) && sameMembers(a, b);
}

const sameItems = (a: unknown[], b: unknown[]): boolean =>
  a.length === b.length && a.every((item, at) => item === b[at]);

function sameMembers(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  let more = 0;
  for (const key in b) {
    if (a[key] !== b[key]) return false;
    more++;
  }
  for (const _ in a) more--;
  return more === 0;
}
