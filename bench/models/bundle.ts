// Our operator as it is in the image, put where it can be started without one.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bundled } from '../../tools/index.ts';

const root = join(import.meta.dirname, '..', '..');

/** Writes the programs of the image and gives the place of their entry point. */
export async function bundle(): Promise<string> {
  const { files, folder } = await bundled(root);
  const place = join(root, 'build', 'bench', 'image');
  for (const { path, contents } of files) {
    const file = join(place, relative(folder, path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
  return join(place, 'main.mjs');
}
