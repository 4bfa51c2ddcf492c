// Where an archive is unpacked to. Every entry passes here: its name, its kind, its place, the number and the sum of all
// of them. No link is ever made, so no path can lead out of the folder.

import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { damaged, pathOf, Places, unsafe } from './names.ts';

/** How much an archive may become. */
export interface UnpackLimits {
  entries: number;
  /** Unpacked bytes for each byte of the archive. */
  ratio: number;
  /** What is fine in any case. */
  anyway: number;
}

export const usualLimits: UnpackLimits = { entries: 100_000, ratio: 100, anyway: 64 * 1024 * 1024 };

/** Counts what an archive has become. */
export class Budget {
  readonly #limits: UnpackLimits;
  readonly #most: number;
  #entries = 0;
  #bytes = 0;
  #current: string | undefined;

  constructor(limits: UnpackLimits, archive: number) {
    this.#limits = limits;
    this.#most = Math.max(limits.anyway, archive * limits.ratio);
  }

  entry(name: string): void {
    this.#entries++;
    this.#current = name;
    if (this.#entries > this.#limits.entries) throw unsafe(name, `there are more than ${this.#limits.entries} entries`);
  }

  /** So many bytes more, of the entry that was named last. */
  bytes(count: number): void {
    this.#bytes += count;
    if (this.#bytes <= this.#most) return;
    const why = `the whole unpacks to more than ${this.#most} bytes, ${this.#limits.ratio} times its size`;
    throw this.#current === undefined ? damaged(why) : unsafe(this.#current, why);
  }
}

/** An entry of an archive, as the archive says. */
export interface Entry {
  name: string;
  kind: 'file' | 'folder';
}

/** A folder that is being filled. */
export class Tree {
  readonly #root: string;
  readonly #places = new Places();
  readonly #made = new Set<string>();
  readonly #files: string[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  /** The files so far. */
  get files(): readonly string[] {
    return this.#files;
  }

  /** Takes the place of an entry; undefined for the top itself, which is there. */
  place({ name, kind }: Entry): string | undefined {
    const read = pathOf(name);
    if ('wrong' in read) throw unsafe(name, read.wrong);
    if (read.path === '') {
      if (kind === 'file') throw unsafe(name, 'it is no name for a file');
      return undefined;
    }
    const taken = this.#places.take(read.path, kind);
    if (taken) throw unsafe(name, taken.wrong);
    return read.path;
  }

  async folder(path: string): Promise<void> {
    if (this.#made.has(path)) return;
    await mkdir(join(this.#root, path), { recursive: true, mode: 0o755 });
    this.#made.add(path);
  }

  /** Writes a file, through to the disk. */
  async file(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    await this.folder(dirname(path));
    const file = await open(join(this.#root, path), 'wx', 0o644);
    try {
      for await (const piece of content) await file.writeFile(piece);
      await file.datasync();
    } finally {
      await file.close();
    }
    this.#files.push(path);
  }
}
