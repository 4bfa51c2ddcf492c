// Zip archives say everything twice, at the end and before each file, and programs differ in what they believe. Only
// archives that say the same in both places are unpacked, after all of them was looked at.

import { TextDecoder } from 'node:util';
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { Refused } from '../outcome.ts';
import { damaged, unsafe } from './names.ts';
import type { Archive } from './tar.ts';
import { Budget, Tree } from './tree.ts';

/** Unpacks a zip archive into a tree. `room`: throws when so many bytes are too much for the volume. */
export async function unpackZip(archive: Archive, tree: Tree, room: (bytes: number) => Promise<void>): Promise<void> {
  try {
    await room(await inspect(archive));
    await each(archive, async (zip, entry) => {
      archive.signal.throwIfAborted();
      const name = nameOf(entry);
      const kind = name.endsWith('/') ? 'folder' : 'file';
      const path = tree.place({ name, kind });
      if (path === undefined) return;
      if (kind === 'folder') await tree.folder(path);
      else await tree.file(path, verified(zip, entry, { name, signal: archive.signal }));
    });
  } catch (error) {
    archive.signal.throwIfAborted();
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw error instanceof Refused || /^E[A-Z]+$/.test(code) ? error : damaged(message, error);
  }
}

async function each(archive: Archive, visit: (zip: ZipFile, entry: Entry) => Promise<void>): Promise<void> {
  const zip = await openPromise(archive.path, { decodeStrings: false, autoClose: false });
  try {
    if (zip.entryCount > archive.limits.entries) throw damaged(`it has more than ${archive.limits.entries} entries`);
    for await (const entry of zip.eachEntry()) await visit(zip, entry);
  } finally {
    zip.close();
  }
}

/** Looks at everything, writes nothing; gives the size of all of it. */
async function inspect(archive: Archive): Promise<number> {
  const budget = new Budget(archive.limits, archive.bytes);
  const names = new Tree('');
  const used: [from: number, to: number, name: string][] = [];
  let total = 0;
  await each(archive, async (zip, entry) => {
    const name = nameOf(entry);
    budget.entry(name);
    const wrong = faultOf(entry, name) ?? (await difference(zip, entry));
    if (wrong !== undefined) throw unsafe(name, wrong);
    names.place({ name, kind: name.endsWith('/') ? 'folder' : 'file' });
    budget.bytes(entry.uncompressedSize);
    total += entry.uncompressedSize;
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    used.push([entry.relativeOffsetOfLocalHeader, fileDataStart + entry.compressedSize, name]);
  });
  const sorted = used.toSorted(([a], [b]) => a - b);
  const overlapping = sorted.find(([from], index) => from < (sorted[index - 1]?.[1] ?? 0));
  if (overlapping) throw unsafe(overlapping[2], 'it shares its bytes with another entry');
  return total;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The name in UTF-8, whatever the archive says about its code page. */
function nameOf({ fileNameRaw }: Entry): string {
  try {
    return utf8.decode(fileNameRaw);
  } catch {
    throw unsafe(fileNameRaw.toString('latin1'), 'its name is not UTF-8');
  }
}

const unicodePath = 0x7075;
const fileType = { mask: 0xf000, folder: 0x4000, file: 0x8000 };

function faultOf(entry: Entry, name: string): string | undefined {
  if (entry.isEncrypted()) return 'it is encrypted';
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    return `it is compressed in a way (${entry.compressionMethod}) that is not known here`;
  const type = (entry.externalFileAttributes >>> 16) & fileType.mask;
  if (type !== 0 && type !== fileType.file && type !== fileType.folder)
    return 'it is a link or a device; only files and folders are unpacked';
  if ((type === fileType.folder) !== name.endsWith('/') && type !== 0) return 'it is a file and a folder';
  if (name.endsWith('/') && entry.uncompressedSize > 0) return 'it is a folder with content';
  const second = entry.extraFields.find(({ id }) => id === unicodePath);
  return second && !second.data.subarray(5).equals(entry.fileNameRaw) ? 'it has two names' : undefined;
}

/** What is said otherwise right before the file than at the end of the archive. */
async function difference(zip: ZipFile, entry: Entry): Promise<string | undefined> {
  const local = await zip.readLocalFileHeaderPromise(entry);
  if (!local.fileName.equals(entry.fileNameRaw)) return 'it has another name in front of its content';
  if (local.compressionMethod !== entry.compressionMethod || (local.generalPurposeBitFlag & 1) !== 0)
    return 'it is packed otherwise than the archive says';
  const later = (local.generalPurposeBitFlag & 8) !== 0;
  const [small, packed] = [local.uncompressedSize, local.compressedSize];
  const agrees = (mine: number, theirs: number) => theirs === mine || theirs === 0xffffffff || (later && theirs === 0);
  if (!agrees(entry.uncompressedSize, small) || !agrees(entry.compressedSize, packed))
    return 'it has another size in front of its content';
  return undefined;
}

/** The content, compared with its checksum at the end. */
async function* verified(
  zip: ZipFile,
  entry: Entry,
  { name, signal }: { name: string; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  let sum = 0;
  for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Uint8Array>) {
    signal.throwIfAborted();
    sum = crc32(piece, sum);
    yield piece;
  }
  if (sum !== entry.crc32) throw unsafe(name, 'its checksum is wrong');
}
