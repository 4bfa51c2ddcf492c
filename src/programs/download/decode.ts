// A server may send a file compressed though it was asked not to. The file that was meant is the one inside, unless its
// name says that it is compressed itself.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Fetched } from './fetch/item.ts';
import { Refused } from './outcome.ts';
import { usualLimits } from './unpack/index.ts';

/** The file that was meant. */
export async function decoded(fetched: Fetched, signal: AbortSignal): Promise<Fetched> {
  const { encoding, path, at } = fetched;
  if (encoding === undefined || /\.t?gz$/i.test(path)) return fetched;
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new Refused(
      'EmptySource',
      `${path} was sent with the encoding ${JSON.stringify(encoding)}, which was not asked for`,
    );
  const hash = createHash('sha256');
  const to = await open(`${at}.decoded`, 'w');
  const most = Math.max(usualLimits.anyway, (await stat(at)).size * usualLimits.ratio);
  let bytes = 0;
  const write = async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > most)
        throw new Refused('UnsafeArchive', `${path} was sent compressed, and expands to more than ${most} bytes`);
      hash.update(piece);
      await to.writeFile(piece);
    }
  };
  try {
    await pipeline(createReadStream(at), createGunzip(), write, { signal });
    await to.sync();
  } catch (error) {
    signal.throwIfAborted();
    const { code = '' } = error as NodeJS.ErrnoException;
    throw code.startsWith('Z_') ? new Refused('EmptySource', `${path} was sent as gzip, and is none`, error) : error;
  } finally {
    await to.close();
  }
  return { path, becomes: fetched.becomes, at: `${at}.decoded`, bytes, sha256: hash.digest('hex') };
}
