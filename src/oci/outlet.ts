// Bytes into a file, in large writes, a few of which are on their way while the next one is filled. The memory for them
// is taken once: fresh buffers for every piece of a large blob would cost more than the writing.

import { type FileHandle, open } from 'node:fs/promises';
import type { Sink } from './sink.ts';

const blockSize = 256 * 1024;
const mostBlocks = 16;

/** A file that is being written from its beginning. */
export class Outlet implements Sink, AsyncDisposable {
  readonly #file: FileHandle;
  readonly #free: Buffer[] = [];
  readonly #writes = new Set<Promise<void>>();
  #blocks = 0;
  #block: Buffer | undefined;
  #filled = 0;
  #at = 0;
  #failed: Error | undefined;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** A new file. */
  static async to(path: string): Promise<Outlet> {
    return new Outlet(await open(path, 'wx', 0o644));
  }

  put(piece: Uint8Array): Promise<void> | undefined {
    if (this.#failed) throw this.#failed;
    for (let at = 0; at < piece.length; ) {
      const block = (this.#block ??= this.#next());
      const taken = piece.subarray(at, at + blockSize - this.#filled);
      block.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (this.#filled === blockSize) this.#flush();
    }
    return this.#free.length === 0 && this.#blocks >= mostBlocks ? this.#room() : undefined;
  }

  /** Waits until everything is in the file. */
  async end(): Promise<void> {
    this.#flush();
    await Promise.all(this.#writes);
    if (this.#failed) throw this.#failed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#writes);
    await this.#file.close();
  }

  async #room(): Promise<void> {
    await Promise.race(this.#writes);
    if (this.#failed) throw this.#failed;
  }

  #next(): Buffer {
    const free = this.#free.pop();
    if (free) return free;
    this.#blocks += 1;
    return Buffer.allocUnsafeSlow(blockSize);
  }

  #flush(): void {
    const block = this.#block;
    if (!block || this.#filled === 0) return;
    const write = this.#write(block, this.#filled, this.#at).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
    this.#at += this.#filled;
    this.#filled = 0;
    this.#block = undefined;
  }

  /** A disk that fills up takes less than it was given before it says so. */
  async #write(block: Buffer, length: number, position: number): Promise<void> {
    try {
      for (let done = 0; done < length; ) {
        const { bytesWritten } = await this.#file.write(block, done, length - done, position + done);
        done += bytesWritten;
      }
      this.#free.push(block);
    } catch (error) {
      this.#failed = error as Error;
    }
  }
}
