// Buckets, at the well-known place or at any server that speaks the same. `s3://bucket/key` is one object if there is one
// of that name, and else everything below it.

import { AwsV4Signer } from 'aws4fetch';
import { type Clock } from '../../../base/index.ts';
import type { Secrets } from '../credentials.ts';
import { refusal } from '../fetch/answers.ts';
import type { Item } from '../fetch/item.ts';
import type { Answer, Request } from '../http/client.ts';
import { Refused } from '../outcome.ts';
import { encodedPart, encodedPath, type Look, type Means, mostFiles, patiently, placeOf } from './source.ts';
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
  if (answer.status === 404 || answer.status === 403) return { items: await below(place, `${key}/`, means, answer) };
  if (answer.status >= 300 && answer.status !== 416) throw await explained(answer);
  answer.drop();
  return { items: [object] };
};

/** Everything whose key begins so. `missing`: the answer for the object of that name. */
async function below(place: Bucket, prefix: string, means: Means, missing?: Answer): Promise<Item[]> {
  const first = missing && (await explained(missing));
  const items: Item[] = [];
  let token: string | undefined;
  do {
    const answer = await patiently(means, { url: place.listing(prefix, token), authorize: place.authorize });
    if (answer.status !== 200) throw (first?.status === 403 ? first : await explained(answer)) as Error;
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

const mostListing = 16 * 1024 * 1024;

/** What an answer means, with the code that such servers put into it. */
async function explained(answer: Answer): Promise<Error & { status?: number }> {
  const { status } = answer;
  const text = await answer.text(65_536).catch(() => '');
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1];
  const region = answer.headers.get('x-amz-bucket-region');
  const hint = region === undefined || status === 404 ? '' : `; the bucket is in the region ${region}`;
  const error = refusal(answer);
  error.message += `${code === undefined ? '' : ` (${code})`}${hint}`;
  return Object.assign(error, { status });
}

const nothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** A bucket: where it is, and how requests to it are signed. */
export class Bucket {
  readonly #base: string;
  readonly #secrets: Secrets;
  readonly #clock: Clock;
  readonly #region: string;

  constructor(bucket: string, secrets: Secrets, clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
    this.#region = secrets.region ?? 'us-east-1';
    this.#base = baseOf(bucket, this.#region, secrets.endpoint);
  }

  object(key: string): URL {
    return new URL(`${this.#base}/${encodedPath(key)}`);
  }

  listing(prefix: string, token: string | undefined): URL {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      prefix,
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const text = Object.entries(query).map(([name, value]) => `${name}=${encodedPart(value)}`);
    return new URL(`${this.#base}/?${text.join('&')}`);
  }

  /** Signs, where there is something to sign with; public buckets want nothing. */
  get authorize(): Request['authorize'] {
    const { accessKeyID: accessKeyId, secretAccessKey, sessionToken } = this.#secrets;
    if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
    return async (url) => {
      const signer = new AwsV4Signer({
        url: url.href,
        method: 'GET',
        headers: { 'x-amz-content-sha256': nothing },
        accessKeyId,
        secretAccessKey,
        ...(sessionToken !== undefined && { sessionToken }),
        service: 's3',
        region: this.#region,
        datetime: new Date(this.#clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ''),
      });
      const { headers } = await signer.sign();
      return Object.fromEntries(headers as unknown as Iterable<[string, string]>);
    };
  }
}

/** Without an endpoint the well-known one, by the bucket's own host; with one, below it, or where it says `{bucket}`. */
function baseOf(bucket: string, region: string, endpoint: string | undefined): string {
  if (endpoint === undefined) {
    const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
    // The certificate is good for one label below the host.
    return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
  }
  const whole = /^https?:\/\//.test(endpoint) ? endpoint : `https://${endpoint}`;
  const base = whole.includes('{bucket}')
    ? whole.replace('{bucket}', bucket)
    : `${whole.replace(/\/+$/, '')}/${bucket}`;
  if (!URL.canParse(base)) throw new Refused('SourceNotFound', 'the endpoint in the Secret is no URL');
  return base.replace(/\/+$/, '');
}
