// The files of an image in a folder, as they would be in a container: for tools that make an image of a folder.

import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Entry } from '../../src/oci/index.ts';

/** Writes everything into a folder that is empty or not there yet. */
export function placeFiles(entries: readonly Entry[], folder: string): void {
  for (const entry of entries) {
    const path = join(folder, entry.path);
    mkdirSync(entry.type === 'folder' ? path : dirname(path), { recursive: true });
    place(entry, path);
  }
}

function place(entry: Entry, path: string): void {
  if (entry.type === 'link') return symlinkSync(entry.target, path);
  if (entry.type === 'file') {
    if (Buffer.isBuffer(entry.content)) writeFileSync(path, entry.content);
    else copyFileSync(entry.content.file, path);
  }
  chmodSync(path, entry.mode);
}
