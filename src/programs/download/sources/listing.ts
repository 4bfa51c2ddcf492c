// The listing of a bucket. Its keys are text with entities; how servers encode keys as URLs instead differs between them.

import { Fault } from '../outcome.ts';

export interface Listing {
  keys: { key: string; size: number }[];
  /** Where the next page begins, if there is one. */
  next: string | undefined;
}

/** Reads one page. */
export function readListing(text: string): Listing {
  if (!/<ListBucketResult[\s>]/.test(text))
    throw new Fault('the bucket answered with something that is no listing', { again: 'never' });
  const keys = [...contents(text)].map((content) => {
    const [key, size] = [inside(content, 'Key'), inside(content, 'Size')];
    if (key === undefined || !/^\d{1,15}$/.test(size ?? '')) throw unreadable();
    return { key: plain(key), size: Number(size) };
  });
  const more = inside(text, 'IsTruncated') === 'true';
  const next = more ? inside(text, 'NextContinuationToken') : undefined;
  if (more && (next === undefined || next === ''))
    throw new Fault('the listing of the bucket breaks off', { again: 'never' });
  return { keys, next: next === undefined ? undefined : plain(next) };
}

const unreadable = () => new Fault('the listing of the bucket cannot be read', { again: 'never' });

const [opening, closing] = ['<Contents>', '</Contents>'];

/** What is said of each object. No expression: one that looks for an end that never comes does so from each beginning. */
function* contents(text: string): Generator<string> {
  for (let from = text.indexOf(opening); from >= 0; ) {
    const to = text.indexOf(closing, from);
    if (to < 0) throw unreadable();
    yield text.slice(from + opening.length, to);
    from = text.indexOf(opening, to);
  }
}

const inside = (text: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const plain = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g, (_, decimal, hex, name) =>
    typeof name === 'string'
      ? (entities[name] ?? '')
      : String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10)),
  );
