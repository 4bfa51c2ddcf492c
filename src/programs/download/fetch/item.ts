// One file from its source to the volume: fetched, hashed on the way, compared with what is known of it.

import { createHash } from 'node:crypto';
import type { Clock, Hasher, Log } from '../../../base/index.ts';
import type { Ask, Request } from '../http/client.ts';
import { Refused } from '../outcome.ts';
import type { Blocks } from './blocks.ts';
import { Fetch } from './fetch.ts';
import type { Lanes } from './lanes.ts';
import type { Meter } from './meter.ts';
import { Part } from './part.ts';

/** A file of a source. */
export interface Item {
  /** Its place in the tree, with slashes. */
  path: string;
  url: URL;
  authorize?: Request['authorize'];
  /** What the source's listing says of it. */
  size?: number;
  /** Hexadecimal. */
  sha256?: string;
  becomes: Becomes;
}

/** What becomes of a file: it stays one, it is unpacked over what is there, or its first bytes decide. */
export type Becomes = { as: 'file' } | { as: 'layer'; kind: 'tar' | 'tar.gz' | 'tar.zst' } | { as: 'anything' };

/** What all files of a download share. */
export interface Kit {
  ask: Ask;
  hasher: Hasher;
  blocks: Blocks;
  lanes: Lanes;
  meter: Meter;
  clock: Clock;
  random: () => number;
  signal: AbortSignal;
  log: Log;
  /** Whether all will be checked against a digest that was asked for: a mixture of versions would be noticed. */
  pinned: boolean;
  /** Throws when so many bytes more are too much for the volume. */
  room(bytes: number): Promise<void>;
}

/** A file that is whole, and on the disk. */
export interface Fetched {
  path: string;
  becomes: Becomes;
  /** Where it is now. */
  at: string;
  bytes: number;
  /** Hexadecimal. */
  sha256: string;
  /** How its bytes are encoded, where they are. */
  encoding?: string;
}

/** Fetches a file to `at`. */
export async function fetchItem(item: Item, at: string, kit: Kit): Promise<Fetched> {
  const source = createHash('sha256').update(item.url.href).digest('hex');
  const part = await Part.open(at, { source, hasher: kit.hasher, clock: kit.clock });
  try {
    await new Fetch(item, part, kit).run();
    const { digest, bytes, encoding } = await part.finish();
    if (bytes === 0 && item.becomes.as === 'anything')
      throw new Refused('EmptySource', `${item.path} at ${item.url.host} is empty: 0 bytes`);
    check(item, digest, bytes);
    await part.keep();
    return {
      path: item.path,
      becomes: item.becomes,
      at,
      bytes,
      sha256: digest,
      ...(encoding !== undefined && { encoding }),
    };
  } catch (error) {
    if (error instanceof Refused && error.verdict === 'ChecksumMismatch') await part.clear();
    else await part.keep().catch(() => {});
    throw error;
  } finally {
    await part.close();
  }
}

function check({ path, sha256, size }: Item, digest: string, bytes: number): void {
  if (size !== undefined && size !== bytes)
    throw new Refused('ChecksumMismatch', `${path} should have ${size} bytes, and has ${bytes}`);
  if (sha256 !== undefined && sha256 !== digest)
    throw new Refused('ChecksumMismatch', `${path} should be sha256:${sha256}, and is sha256:${digest}`);
}
