// Layers that were built before: packing takes seconds, looking takes none. A layer is known by its entries, content and
// all, and by the Node that packed it, whose compression may differ from the next one's.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry, Layer, Layout } from '../../src/oci/index.ts';

/** The layers of a layout, by what they were made of. */
export class KeptLayers {
  readonly #layout: Layout;
  readonly #file: string;
  readonly #known: Record<string, Layer>;

  private constructor(layout: Layout, file: string, known: Record<string, Layer>) {
    this.#layout = layout;
    this.#file = file;
    this.#known = known;
  }

  static async in(layout: Layout): Promise<KeptLayers> {
    const file = join(layout.folder, 'kept-layers.json');
    const known = await readFile(file, 'utf8').then(
      (text) => JSON.parse(text) as Record<string, Layer>,
      () => ({}),
    );
    return new KeptLayers(layout, file, known);
  }

  /** The layer of these entries, built only where it is not here. */
  async layer(entries: readonly Entry[], build: () => Promise<Layer>): Promise<Layer> {
    const key = await keyOf(entries);
    const known = this.#known[key];
    if (known && (await this.#layout.has(known.descriptor))) return known;
    const layer = await build();
    this.#known[key] = layer;
    const scratch = `${this.#file}.${process.pid}`;
    await writeFile(scratch, JSON.stringify(this.#known));
    await rename(scratch, this.#file); // somebody may be reading it
    return layer;
  }
}

async function keyOf(entries: readonly Entry[]): Promise<string> {
  const hash = createHash('sha256').update(process.versions.zlib).update(process.version);
  for (const entry of entries) hash.update(JSON.stringify(await told(entry)));
  return hash.digest('hex');
}

async function told(entry: Entry): Promise<unknown> {
  if (entry.type !== 'file') return entry;
  const { path, mode, content } = entry;
  const hash = createHash('sha256');
  if (Buffer.isBuffer(content)) hash.update(content);
  else
    for await (const piece of createReadStream(content.file, { highWaterMark: 1024 * 1024 }))
      hash.update(piece as Buffer);
  return [path, mode, hash.digest('hex')];
}
