// Every value of every Secret that the suites made is a canary: it is looked for in all that the operator and its programs
// wrote. A value that is too short would be found by chance, and fails for that.

import { isByOurRole, isOfSecret, type Recorded } from './request.ts';

const shortest = 8;

/** A value that must be found nowhere, and whose it is. */
export interface Canary {
  value: string;
  owner: string;
}

/** The canaries in a request that wrote a Secret. */
export function canariesIn(request: Recorded): Canary[] {
  const { objectRef, requestObject: body } = request;
  if (!isOfSecret(request) || !body) return [];
  const data = Object.entries((body['data'] ?? {}) as Record<string, string>).map(
    ([key, value]) => [key, Buffer.from(value, 'base64').toString()] as const,
  );
  const texts = Object.entries((body['stringData'] ?? {}) as Record<string, string>);
  return [...data, ...texts].flatMap(([key, value]) => {
    const owner = `Secret ${objectRef?.namespace}/${objectRef?.name ?? nameIn(body)}, key ${key}`;
    return passwordsIn(key, value).map((password) => ({ value: password, owner }));
  });
}

const nameIn = (body: Record<string, unknown>): string =>
  (body['metadata'] as { name?: string } | undefined)?.name ?? '';

/** Keys of a Secret for a source that say where it is and whom to trust. */
const addresses = ['endpoint', 'region', 'ca.crt'];

/** Only what is secret: addresses and names of users are told to everybody. */
function passwordsIn(key: string, value: string): string[] {
  if (addresses.includes(key)) return [];
  if (key !== '.dockerconfigjson') return [value];
  const { auths = {} } = JSON.parse(value) as { auths?: Record<string, Record<string, string>> };
  return Object.values(auths).flatMap(({ password, auth, identitytoken }) =>
    [password, auth, identitytoken].filter((one) => one !== undefined),
  );
}

/** Whether it would be found by chance. */
export const isTooShort = ({ value }: Canary): boolean => needleIn(value).length < shortest;

/** What of a value is looked for: its longest line, because logs are read line by line and line ends are written in many ways. */
const needleIn = (value: string): string =>
  value.split(/[\r\n]+/).reduce((longest, line) => (line.length > longest.length ? line : longest));

/** How a needle may stand in a text. */
const formsOf = (needle: string): string[] => [
  needle,
  JSON.stringify(needle).slice(1, -1),
  encodeURIComponent(needle),
  ...[0, 1, 2].map((before) => inBase64(needle, before)),
];

/** The part of a base64 text that the needle alone decides, where so many bytes (modulo three) stand before it. */
function inBase64(needle: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(needle)]);
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** What is looked for: each value as it is, in JSON, in a URL, and in base64, also with something else before or behind it. */
export class Search {
  private readonly owners = new Map<string, string>();
  private readonly pattern: RegExp | undefined;

  constructor(canaries: readonly Canary[]) {
    for (const { value, owner } of canaries) for (const form of formsOf(needleIn(value))) this.owners.set(form, owner);
    const forms = [...this.owners.keys()].map((form) => form.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
    this.pattern = forms.length > 0 ? new RegExp(forms.join('|')) : undefined;
  }

  /** Whose value a text holds. */
  ownerIn(text: string): string | undefined {
    const found = this.pattern?.exec(text)?.[0];
    return found === undefined ? undefined : this.owners.get(found);
  }
}

/** What a request of the operator wrote; nothing for one that only read. */
export const writtenBy = (request: Recorded): string | undefined =>
  isByOurRole(request) && request.requestObject ? JSON.stringify(request.requestObject) : undefined;
