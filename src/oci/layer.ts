// Files as a layer of an image. Both digests, of the archive and of its compressed form, are taken as the bytes pass, and
// the same files give the same digests.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Layout } from './layout.ts';
import { type Descriptor, mediaType } from './manifest.ts';
import { type Entry, type Owner, tarOf } from './tar.ts';

/** A finished layer: what a manifest says of it, and the digest that a config lists. */
export interface Layer {
  descriptor: Descriptor;
  diffId: string;
  /** Bytes before compression. */
  unpacked: number;
}

export interface LayerOptions {
  /** Owner of everything; root by default. */
  owner?: Owner;
  compression?: 'gzip' | 'none';
}

/** Builds a layer into a layout. */
export async function buildLayer(
  layout: Layout,
  entries: readonly Entry[],
  { owner = { uid: 0, gid: 0 }, compression = 'gzip' }: LayerOptions = {},
): Promise<Layer> {
  const [raw, sent] = [new Tally(), new Tally()];
  const archive = raw.pass(tarOf(entries, owner));
  const bytes = compression === 'gzip' ? gzipped(archive) : archive;
  const digest = await layout.writeNew(sent.pass(bytes), () => sent.digest());
  const type = compression === 'gzip' ? mediaType.layerGzip : mediaType.layer;
  return { descriptor: { mediaType: type, digest, size: sent.size }, diffId: raw.digest(), unpacked: raw.size };
}

/** Compressed, the same on every system: the head of a gzip stream names the one that it was made on, ours names none. */
async function* gzipped(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const piece of Readable.from(pieces, { objectMode: false }).compose(
    createGzip(),
  ) as AsyncIterable<Buffer>) {
    const system = 9 - at;
    if (system >= 0 && system < piece.length) piece[system] = 255;
    at += piece.length;
    yield piece;
  }
}

/** Counts and hashes what passes. */
class Tally {
  readonly #hash = createHash('sha256');
  size = 0;

  async *pass(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      this.#hash.update(piece);
      this.size += piece.length;
      yield piece;
    }
  }

  /** Once, at the end. */
  digest(): string {
    return `sha256:${this.#hash.digest('hex')}`;
  }
}
