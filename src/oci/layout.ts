// Images in a folder, by the rules of an OCI image layout. A blob gets its name only when all of it is there and its
// digest is right; whoever reads one gets its digest checked again, since a folder is open to everybody.

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Following, type Hasher } from '../base/index.ts';
import { checked, Count, digestOf, type Expected, partsOf } from './digest.ts';
import { type Descriptor, type Document, type Index, mediaType, readDocument } from './manifest.ts';
import { Outlet } from './outlet.ts';
import type { BlobSource } from './upload.ts';

const refName = 'org.opencontainers.image.ref.name';
const pieceSize = 256 * 1024;

/** A folder with images. */
export class Layout {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The layout in a folder, made if there is none. */
  static async make(folder: string): Promise<Layout> {
    const layout = new Layout(folder);
    await mkdir(join(folder, 'blobs', 'sha256'), { recursive: true });
    await layout.#put('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    if (!(await stat(join(folder, 'index.json')).catch(() => undefined))) await layout.#writeIndex([]);
    return layout;
  }

  /** The layout that is in a folder; throws where there is none. */
  static async open(folder: string): Promise<Layout> {
    const text = await readFile(join(folder, 'oci-layout'), 'utf8').catch((cause: unknown) => {
      throw new Error(`${folder} is not an OCI image layout: it has no file oci-layout`, { cause });
    });
    const { imageLayoutVersion: version } = JSON.parse(text) as { imageLayoutVersion?: string };
    if (version !== '1.0.0') throw new Error(`${folder} is an OCI image layout of version ${version}; 1.0.0 is known`);
    return new Layout(folder);
  }

  /** Where a blob is, or would be. */
  path(digest: string): string {
    const { algorithm, hex } = partsOf(digest);
    return join(this.folder, 'blobs', algorithm, hex);
  }

  /** Whether a blob of this size is there. */
  async has({ digest, size }: Expected): Promise<boolean> {
    const found = await stat(this.path(digest)).catch(() => undefined);
    return found?.isFile() === true && found.size === size;
  }

  /** Keeps bytes as a blob, if they are what was expected. */
  write(bytes: AsyncIterable<Uint8Array>, expected: Expected): Promise<void> {
    return this.fill(expected.digest, (outlet) => flow(checked(bytes, expected), outlet));
  }

  /** Keeps as a blob what `work` puts into the sink; `work` throws unless that has the digest. */
  fill(digest: string, work: (sink: Outlet) => Promise<void>): Promise<void> {
    return this.#named(
      () => this.path(digest),
      (scratch) => filled(scratch, work),
    );
  }

  /** The same for a large blob: the thread reads behind the writer, and `work` only has to see that all of it came. */
  fillHashed(content: Expected, hasher: Hasher, work: (sink: Outlet) => Promise<void>): Promise<void> {
    return this.#named(
      () => this.path(content.digest),
      (scratch) => followed(scratch, content, { hasher, work }),
    );
  }

  /** Keeps some bytes, under whatever digest they have. */
  async writeBytes(bytes: Buffer, type: string): Promise<Descriptor> {
    const descriptor = { mediaType: type, digest: digestOf(bytes), size: bytes.length };
    await this.#named(
      () => this.path(descriptor.digest),
      (scratch) => writeFile(scratch, bytes),
    );
    return descriptor;
  }

  /** Keeps bytes as a blob whose digest is known only when they have passed. */
  async writeNew(bytes: AsyncIterable<Uint8Array>, digest: () => string): Promise<string> {
    let found = '';
    await this.#named(
      () => this.path((found = digest())),
      (scratch) => filled(scratch, (outlet) => flow(bytes, outlet)),
    );
    return found;
  }

  /** The bytes of a blob, checked; they are right only when they have ended without an error. */
  read(content: Expected): AsyncGenerator<Buffer> {
    return checked(this.#bytes(content.digest, 0, content.size), content);
  }

  /** A small blob as a whole. */
  async readWhole(content: Expected): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.read(content)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** A manifest or an index. */
  async document(content: Expected & { mediaType: string }): Promise<Document> {
    return readDocument(await this.readWhole(content), content.mediaType);
  }

  /** A blob for an upload; the registry checks its digest. */
  source({ digest, size }: Expected): BlobSource {
    return { digest, size, open: (start, end) => this.#recycled(digest, start, end) };
  }

  /** The images of the folder. */
  async images(): Promise<Descriptor[]> {
    const { content } = readDocument(await readFile(join(this.folder, 'index.json')), mediaType.index);
    if (!('index' in content)) throw new Error(`${join(this.folder, 'index.json')} is not an index`);
    return content.index.manifests;
  }

  /** The image of a name; without a name, the only one. */
  async image(name?: string): Promise<Descriptor> {
    const all = await this.images();
    const found = name === undefined ? all : all.filter(({ annotations }) => annotations?.[refName] === name);
    const [first, second] = found;
    if (!first) throw new Error(`${this.folder} has no image${name === undefined ? '' : ` called ${name}`}`);
    if (second) throw new Error(`${this.folder} has several images: name one`);
    return first;
  }

  /** Lists an image under a name, in place of the one that had it. */
  async name(image: Descriptor, name: string): Promise<void> {
    const others = (await this.images()).filter(({ annotations }) => annotations?.[refName] !== name);
    await this.#writeIndex([...others, { ...image, annotations: { ...image.annotations, [refName]: name } }]);
  }

  async #writeIndex(manifests: readonly Descriptor[]): Promise<void> {
    const index: Index = { schemaVersion: 2, mediaType: mediaType.index, manifests: [...manifests] };
    await this.#put('index.json', JSON.stringify(index));
  }

  #put(file: string, text: string): Promise<void> {
    return this.#named(
      () => join(this.folder, file),
      (scratch) => writeFile(scratch, text),
    );
  }

  /** Work on a file that gets its name only when it is whole. */
  async #named(path: () => string, work: (scratch: string) => Promise<void>): Promise<void> {
    const scratch = join(this.folder, 'blobs', `.unfinished-${randomUUID()}`);
    try {
      await work(scratch);
      const target = path();
      await mkdir(dirname(target), { recursive: true });
      await rename(scratch, target);
    } catch (error) {
      await rm(scratch, { force: true });
      throw error;
    }
  }

  async *#bytes(digest: string, start: number, end: number): AsyncGenerator<Buffer> {
    if (end <= start) return;
    const file = await open(this.path(digest));
    yield* createReadStream('', { fd: file, start, end: end - 1, highWaterMark: pieceSize }) as AsyncIterable<Buffer>;
  }

  /** The same in few buffers, used in turns. A reader has written one out before it asks for the next but one. */
  async *#recycled(digest: string, start: number, end: number): AsyncGenerator<Buffer> {
    await using file = await open(this.path(digest));
    const buffers = Array.from({ length: 3 }, () => Buffer.allocUnsafeSlow(Math.min(pieceSize, end - start)));
    for (let at = start, turn = 0; at < end; turn += 1) {
      const buffer = buffers[turn % buffers.length] ?? Buffer.alloc(0);
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
      if (bytesRead === 0) throw new Error(`${this.path(digest)} ends after ${at} bytes`);
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }
}

async function filled(path: string, work: (outlet: Outlet) => Promise<void>): Promise<void> {
  await using outlet = await Outlet.to(path);
  await work(outlet);
  await outlet.end();
}

async function followed(
  path: string,
  content: Expected,
  { hasher, work }: { hasher: Hasher; work: (outlet: Outlet) => Promise<void> },
): Promise<void> {
  let following: Following | undefined;
  await using outlet = await Outlet.to(path, (count) => following?.upto(count));
  following = hasher.follow(path);
  try {
    await work(outlet);
    await outlet.end();
    new Count(content).compare(await following.finish(content.size));
  } catch (error) {
    following.drop();
    throw error;
  }
}

async function flow(bytes: AsyncIterable<Uint8Array>, outlet: Outlet): Promise<void> {
  for await (const piece of bytes) await outlet.put(piece);
}
