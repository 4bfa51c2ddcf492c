// Buckets, at the well-known place or at any server that speaks the same. `s3://bucket/key` is one object if there is one
// of that name, and else everything below it.

import { refusal } from '../fetch/answers.ts';
import type { Item } from '../fetch/item.ts';
import type { Answer } from '../http/client.ts';
import { Refused } from '../outcome.ts';
import { Bucket } from './bucket.ts';
import { type Look, type Means, mostFiles, Pages, patiently, placeOf } from './source.ts';
import { readListing } from './listing.ts';

/** Looks whether there is an object, or something below it. */
export const lookAtBucket: Look = async ({ url }, means) => {
  const [, bucket, key = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(url) ?? [];
  if (bucket === undefined)
    throw new Refused('SourceNotFound', 'modelURL names no bucket: write s3://bucket/key, with a bucket in lower case');
  const place = new Bucket(bucket, means.secrets, means.clock);
  if (key === '' || key.endsWith('/')) return { items: await below(place, key, means) };
  const path = placeOf(key);
  const object: Item = {
    path: path.split('/').at(-1) ?? path,
    url: place.object(key),
    authorize: place.authorize,
    becomes: { as: 'anything' },
  };
  const answer = await patiently(means, {
    url: object.url,
    authorize: place.authorize,
    headers: { range: 'bytes=0-0' },
  });
  if (answer.status >= 300 && answer.status !== 416) {
    const error = await explained(answer);
    if (answer.status !== 404 && answer.status !== 403) throw error;
    return { items: await below(place, `${key}/`, means, error) };
  }
  answer.drop();
  return { items: [object] };
};

/** Everything whose key begins so. `missing`: why there is no object of that name, which says more if we may not look. */
async function below(place: Bucket, prefix: string, means: Means, missing?: Error): Promise<Item[]> {
  const items: Item[] = [];
  const pages = new Pages();
  let token: string | undefined;
  do {
    pages.turn(token ?? '');
    const answer = await patiently(means, { url: place.listing(prefix, token), authorize: place.authorize });
    if (answer.status !== 200) {
      const error = await explained(answer);
      throw isUnknown(missing) ? missing : error;
    }
    const { keys, next } = readListing(await answer.text(mostListing));
    for (const { key, size } of keys) {
      const name = key.slice(prefix.length);
      if (name === '' || name.endsWith('/')) continue;
      items.push({
        path: placeOf(name),
        url: place.object(key),
        authorize: place.authorize,
        size,
        becomes: { as: 'file' },
      });
    }
    if (items.length > mostFiles) throw new Refused('UnsafeArchive', `the source holds more than ${mostFiles} files`);
    token = next;
  } while (token !== undefined);
  if (items.length === 1 && items[0]) return [{ ...items[0], becomes: { as: 'anything' } }];
  if (items.length > 0) return items;
  throw new Refused('EmptySource', `there is nothing below ${prefix || 'the top'} in the bucket`);
}

const isUnknown = (error: Error | undefined): error is Refused =>
  error instanceof Refused && error.verdict === 'SourceUnauthorized';

const mostListing = 16 * 1024 * 1024;

/** Codes by which such servers say that they do not know us, whatever the status. */
const unknown =
  /^(?:AccessDenied|Invalid(?:AccessKeyId|Token|Security)|SignatureDoesNotMatch|AuthorizationHeaderMalformed|ExpiredToken|RequestTimeTooSkewed|XAdminUserNotFound)$/;

/** The way to a bucket of another region is told without a place to go to: a request must be signed anew for it. */
const isElsewhere = ({ status }: Answer): boolean => status === 301 || status === 307;

/** What an answer means, with the code that such servers put into it. */
async function explained(answer: Answer): Promise<Error> {
  const text = await answer.text(65_536).catch(() => '');
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1];
  const region = /<Region>([a-z0-9-]{1,64})<\/Region>/.exec(text)?.[1] ?? answer.headers.get('x-amz-bucket-region');
  const said = `${answer.url.host} answered ${answer.status}${code === undefined ? '' : ` ${code}`}`;
  if (region !== undefined && (isElsewhere(answer) || code === 'AuthorizationHeaderMalformed')) {
    const where = `the bucket is in the region ${region}`;
    return new Refused('SourceUnauthorized', `${said}; ${where}: write it into region of the Secret in credentials`);
  }
  if (code !== undefined && unknown.test(code))
    return new Refused('SourceUnauthorized', `${said}; check the Secret that credentials names`);
  const error = refusal(answer);
  if (code !== undefined) error.message += ` (${code})`;
  return error;
}
