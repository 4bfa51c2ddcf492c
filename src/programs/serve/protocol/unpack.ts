// Bodies that come compressed, unpacked off the main thread and never beyond the limit: a small body may hide a huge one.

import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { Refusal } from './refusal.ts';

const codings = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
]);

/** Whether this coding is none at all, so that nothing has to be waited for. */
export const isPlain = (encoding: string): boolean => encoding === 'identity' || encoding === '';

/** The body as it was before it was compressed. */
export async function unpacked(body: Buffer, encoding: string, limit: number): Promise<Buffer | Refusal> {
  const unpack = codings.get(encoding);
  if (!unpack) return new Refusal(`Content-Encoding ${encoding} is not taken: it may be gzip or deflate`, 415);
  try {
    return await unpack(body, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      return new Refusal(
        `The unpacked body is larger than the ${limit} bytes that this server takes: see --body-limit`,
        413,
      );
    return new Refusal(`The body is no ${encoding} data`);
  }
}
