// Bodies that come compressed, unpacked off the main thread and never beyond the limit: a small body may hide a huge one. Memory
// is asked for piece by piece as it is filled, so that many such bodies at once get no more than large bodies may take.

import { createGunzip, createInflate } from 'node:zlib';
import { Refusal } from './refusal.ts';

const codings = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
]);

/** How large one body may become, and who has memory for it. */
export interface Room {
  limit: number;
  /** Takes memory; false when too much is taken already. */
  reserve: (bytes: number) => boolean;
}

/** Whether this coding is none at all, so that nothing has to be waited for. */
export const isPlain = (encoding: string): boolean => encoding === 'identity' || encoding === '';

/** The body as it was before it was compressed. */
export async function unpacked(body: Buffer, encoding: string, room: Room): Promise<Buffer | Refusal | 'no room'> {
  const unpacker = codings.get(encoding)?.();
  if (!unpacker) return new Refusal(`Content-Encoding ${encoding} is not taken: it may be gzip or deflate`, 415);
  unpacker.end(body);
  try {
    return await gathered(unpacker, room);
  } catch {
    return new Refusal(`The body is no ${encoding} data`);
  }
}

async function gathered(
  pieces: AsyncIterable<Buffer>,
  { limit, reserve }: Room,
): Promise<Buffer | Refusal | 'no room'> {
  const all: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > limit) return tooLarge(limit);
    if (!reserve(piece.length)) return 'no room';
    all.push(piece);
  }
  return Buffer.concat(all, size);
}

const tooLarge = (limit: number): Refusal =>
  new Refusal(`The unpacked body is larger than the ${limit} bytes that this server takes: see --body-limit`, 413);
