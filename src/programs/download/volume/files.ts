// Small files of our own that must be whole or absent after a crash, and folders whose entries must stay.

import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file so that it is there with this content, or as it was before. */
export async function writeSafely(path: string, content: unknown): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(content), { flush: true });
  await rename(`${path}.new`, path);
  await syncFolder(dirname(path));
}

/** What was written so; undefined when there is none, or none that can be read. */
export async function readBack(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Puts the entries of a folder on the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
