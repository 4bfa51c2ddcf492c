// Tar archives, plain or compressed. The stream itself is counted too: an archive may expand between its entries.

import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { Refused } from '../outcome.ts';
import { damaged, unsafe } from './names.ts';
import { Budget, type Tree, type UnpackLimits } from './tree.ts';

export interface Archive {
  path: string;
  /** Its own size. */
  bytes: number;
  limits: UnpackLimits;
  signal: AbortSignal;
}

const chunkSize = 262_144;

const decompress = {
  plain: (file: Readable) => file,
  gzip: (file: Readable) => file.pipe(createGunzip({ chunkSize })),
  zstd: (file: Readable) => file.pipe(createZstdDecompress({ chunkSize })),
};

/** Unpacks a tar archive into a tree. */
export async function unpackTar(archive: Archive, compression: keyof typeof decompress, tree: Tree): Promise<void> {
  const budget = new Budget(archive.limits, archive.bytes);
  const counted = async function* (source: AsyncIterable<Buffer>) {
    for await (const piece of source) {
      budget.bytes(piece.length);
      yield piece;
    }
  };
  const entries = extract();
  const file = createReadStream(archive.path, { highWaterMark: chunkSize });
  const plain = decompress[compression](file);
  file.on('error', (error) => plain.destroy(error));
  const reading = pipeline(plain, counted, entries, { signal: archive.signal }).finally(() => file.destroy());
  reading.catch(() => {});
  try {
    for await (const entry of entries) await take(entry.header, entry as AsyncIterable<Uint8Array>, { budget, tree });
    await reading;
  } catch (error) {
    entries.destroy();
    const first = await reading.then(
      () => error,
      (cause: unknown) => (error instanceof Refused ? error : cause),
    );
    throw explained(first, archive.signal);
  }
}

async function take(
  header: Header,
  content: AsyncIterable<Uint8Array>,
  to: { budget: Budget; tree: Tree },
): Promise<void> {
  to.budget.entry(header.name);
  const kind = kindOf(header);
  const path = to.tree.place({ name: header.name, kind });
  if (path === undefined || kind === 'folder') {
    if ((header.size ?? 0) > 0) throw unsafe(header.name, 'it is a folder with content');
    for await (const _ of content);
    if (path !== undefined) await to.tree.folder(path);
    return;
  }
  await to.tree.file(path, content);
}

function kindOf({ name, type, pax }: Header): 'file' | 'folder' {
  if (Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse'))) throw unsafe(name, 'it is a sparse file');
  if (type === 'directory' || (type === 'file' && name.endsWith('/'))) return 'folder';
  if (type === 'file' || type === 'contiguous-file') return 'file';
  throw unsafe(name, `it is ${words[type ?? ''] ?? 'of an unknown kind'}; only files and folders are unpacked`);
}

const words: Readonly<Record<string, string>> = {
  symlink: 'a symbolic link',
  link: 'a hard link',
  'character-device': 'a device',
  'block-device': 'a device',
  fifo: 'a named pipe',
};

/** What the libraries say becomes a verdict; what the disk says stays what it is. */
function explained(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof Refused || /^E[A-Z]+$/.test(code)) return error;
  return damaged(message, error);
}
