// Files as a tar archive that depends on nothing but their names, modes and content: sorted, without times, of one owner.

import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Header, pack, type Pack } from 'tar-stream';

/** One thing in an archive. Folders above it are added where they are missing. */
export type Entry = { path: string } & (
  | { type: 'file'; mode: number; content: Buffer | { file: string; size: number } }
  | { type: 'folder'; mode: number }
  | { type: 'link'; target: string }
);

/** Who owns everything in an archive. */
export interface Owner {
  uid: number;
  gid: number;
}

/** The bytes of an archive. */
export async function* tarOf(entries: readonly Entry[], owner: Owner): AsyncGenerator<Buffer> {
  const archive = pack();
  const filled = fill(archive, sorted(entries), owner);
  filled.catch(() => undefined);
  yield* archive as AsyncIterable<Buffer>;
  await filled;
}

/** Every entry once, folders before what is in them; two of one name are a mistake. */
export function sorted(entries: readonly Entry[]): Entry[] {
  const all = new Map<string, Entry>();
  for (const entry of entries) {
    const path = normal(entry.path);
    if (all.has(path)) throw new Error(`the archive has ${path} twice`);
    all.set(path, { ...entry, path });
  }
  for (const path of [...all.keys()].flatMap(above)) if (!all.has(path)) all.set(path, folder(path));
  return [...all.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const folder = (path: string): Entry => ({ path, type: 'folder', mode: 0o755 });

function normal(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0 || parts.some((part) => part === '.' || part === '..'))
    throw new Error(`"${path}" cannot be in an archive`);
  return parts.join('/');
}

function above(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

async function fill(archive: Pack, entries: readonly Entry[], owner: Owner): Promise<void> {
  try {
    for (const entry of entries) await add(archive, entry, owner);
    archive.finalize();
  } catch (error) {
    archive.destroy(error as Error);
    throw error;
  }
}

async function add(archive: Pack, entry: Entry, owner: Owner): Promise<void> {
  const head = { ...owner, mtime: new Date(0), name: entry.path };
  switch (entry.type) {
    case 'folder':
      return put(archive, { ...head, name: `${entry.path}/`, type: 'directory', mode: entry.mode });
    case 'link':
      return put(archive, { ...head, type: 'symlink', mode: 0o777, linkname: entry.target });
    case 'file': {
      const { content, mode } = entry;
      if (Buffer.isBuffer(content)) return put(archive, { ...head, type: 'file', mode }, content);
      const room = archive.entry({ ...head, type: 'file', mode, size: content.size });
      return pipeline(createReadStream(content.file, { highWaterMark: 1024 * 1024 }), room);
    }
  }
}

const put = (archive: Pack, headers: Partial<Header> & { name: string }, content?: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve());
    if (content) archive.entry(headers, content, done);
    else archive.entry(headers, done);
  });
