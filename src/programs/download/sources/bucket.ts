// Where a bucket is, by path or by a host of its own, and how requests to it are signed.

import { AwsV4Signer } from 'aws4fetch';
import type { Clock } from '../../../base/index.ts';
import type { Secrets } from '../credentials.ts';
import type { Request } from '../http/client.ts';
import { endpointIn, regionIn } from './endpoint.ts';
import { encodedPart, encodedPath } from './source.ts';

/** The digest of an empty body. */
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
    this.#region = regionIn(secrets);
    this.#base = baseOf(bucket, this.#region, secrets.endpoint);
  }

  object(key: string): URL {
    return new URL(`${this.#base}/${encodedPath(key)}`);
  }

  listing(prefix: string, token: string | undefined): URL {
    const query = {
      'list-type': '2',
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
  const place = endpointIn(endpoint);
  return place.includes('{bucket}') ? place.replace('{bucket}', bucket) : `${place}/${bucket}`;
}
