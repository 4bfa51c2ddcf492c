// Whether a volume has room, said before it is full where that can be known: what is needed, and what is there.

import { statfs } from 'node:fs/promises';
import { Refused } from '../outcome.ts';

/** Throws when so many bytes more are too much for the volume. */
export async function roomFor(path: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(path);
  if (bytes > bavail * bsize) throw full(bytes, bavail * bsize);
}

/** The verdict when a write fails for lack of room; any other error as it is. */
export async function explained(error: unknown, path: string, need: number | undefined): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  const { blocks, bsize, bavail } = await statfs(path);
  return need === undefined ? full(undefined, bavail * bsize) : full(need, blocks * bsize);
}

const full = (need: number | undefined, have: number): Refused => {
  const needs = need === undefined ? 'more is needed' : `${sized(need)} are needed`;
  return new Refused(
    'StorageFull',
    `the volume is too small: ${needs}, it has ${sized(have)}; ask for more in storageSize`,
  );
};

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes for people. */
export function sized(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${step === 0 ? bytes : (bytes / 1024 ** step).toFixed(1)} ${units[step]}`;
}
