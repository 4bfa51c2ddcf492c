// Archives are told by their first bytes, because names lie. Some formats of models are archives in themselves: they are
// told by their names and left as they are.

import { open, stat } from 'node:fs/promises';
import { gunzipSync, constants } from 'node:zlib';
import { Refused } from '../outcome.ts';
import { shown } from './names.ts';
import { Tree, type UnpackLimits } from './tree.ts';

export { ownFolder, pathOf, Places, shown, unsafe } from './names.ts';
export { type UnpackLimits, usualLimits } from './tree.ts';

/** What a file is an archive of. */
export type ArchiveKind = 'tar' | 'tar.gz' | 'tar.zst' | 'zip';

/** Formats of models that are archives inside: what reads them wants them whole. */
const whole = /\.(?:pt|pth|pt2|bin|ckpt|keras|npz|mar|nemo|jar|whl|pkl|joblib|skops|mlpackage)$/i;
const named = /\.(?:tar|tar\.gz|tgz|zip)$/i;

/** The kind of archive, if a file is one; throws when only its name says so. */
export async function archiveKind(path: string, name: string): Promise<ArchiveKind | undefined> {
  if (whole.test(name)) return undefined;
  const kind = kindIn(await beginning(path, 8_192));
  if (kind === undefined && named.test(name))
    throw new Refused(
      'UnsafeArchive',
      `${shown(name)} is named like an archive, and is none: tar, tar.gz and zip are known`,
    );
  return kind;
}

async function beginning(path: string, most: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Pure: the kind of archive that begins with these bytes. */
export function kindIn(bytes: Buffer): ArchiveKind | undefined {
  const signature = bytes.length >= 4 ? bytes.readUInt32LE(0) : 0;
  if (signature === 0x04034b50 || signature === 0x06054b50) return 'zip';
  if (isTar(bytes)) return 'tar';
  return bytes[0] === 0x1f && bytes[1] === 0x8b && isTar(inflated(bytes)) ? 'tar.gz' : undefined;
}

const isTar = (bytes: Buffer): boolean => bytes.length >= 512 && bytes.toString('latin1', 257, 262) === 'ustar';

/** The beginning of what is compressed. */
function inflated(bytes: Buffer): Buffer {
  try {
    const most = 9 * 1024 * 1024; // more than 8 KiB can become
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: most }).subarray(0, 1_024);
  } catch {
    return Buffer.alloc(0);
  }
}

/** What to unpack, and where to. */
export interface Unpacking {
  path: string;
  kind: ArchiveKind;
  /** An empty folder. */
  into: string;
  limits: UnpackLimits;
  signal: AbortSignal;
  /** Throws when so many bytes more are too much for the volume. */
  room: (bytes: number) => Promise<void>;
}

const compressions = { tar: 'plain', 'tar.gz': 'gzip', 'tar.zst': 'zstd' } as const;

/** Unpacks an archive; gives its files, which may be none: a layer of an image may only make folders. */
export async function unpack({ path, kind, into, limits, signal, room }: Unpacking): Promise<readonly string[]> {
  const tree = new Tree(into);
  const archive = { path, bytes: (await stat(path)).size, limits, signal };
  // Most downloads are no archives, and need no reader of them.
  if (kind === 'zip') await (await import('./zip.ts')).unpackZip(archive, tree, room);
  else await (await import('./tar.ts')).unpackTar(archive, compressions[kind], tree);
  return tree.files;
}
