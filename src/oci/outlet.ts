// Bytes into a file: blocks are filled while those before them are written. One write at a time, because writers of one
// file only wait for each other; not larger than that, because for larger ones a busy kernel looks long for memory; and
// from blocks that are taken once, because fresh buffers for every piece of a large blob would cost more than the writing.

import { type FileHandle, open } from 'node:fs/promises';
import { asError } from '../base/index.ts';
import type { Sink } from './sink.ts';

const blockSize = 256 * 1024;
const mostBlocks = 8;

/** A file that is being written from its beginning. */
export class Outlet implements Sink, AsyncDisposable {
  readonly #file: FileHandle;
  readonly #written: ((count: number) => void) | undefined;
  readonly #free: Buffer[] = [];
  /** Full blocks that wait to be written; the last one of all may be shorter. */
  readonly #full: Buffer[] = [];
  #blocks = 0;
  #block: Buffer | undefined;
  #filled = 0;
  #at = 0;
  #writing: Promise<void> | undefined;
  #room: (() => void) | undefined;
  #failed: Error | undefined;

  private constructor(file: FileHandle, written?: (count: number) => void) {
    this.#file = file;
    this.#written = written;
  }

  /** A new file; `written` is told how much of it is there. */
  static async to(path: string, written?: (count: number) => void): Promise<Outlet> {
    return new Outlet(await open(path, 'wx', 0o644), written);
  }

  put(piece: Uint8Array): Promise<void> | undefined {
    for (let at = 0; at < piece.length; ) {
      const block = (this.#block ??= this.#next());
      const taken = piece.subarray(at, at + blockSize - this.#filled);
      block.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (this.#filled === blockSize) this.#pass();
    }
    if (this.#failed) throw this.#failed;
    const full = this.#free.length === 0 && this.#blocks >= mostBlocks;
    return full ? new Promise((resolve) => (this.#room = resolve)) : undefined;
  }

  /** Waits until everything is in the file. */
  async end(): Promise<void> {
    this.#pass();
    await this.#writing;
    if (this.#failed) throw this.#failed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  #next(): Buffer {
    const free = this.#free.pop();
    if (free) return free;
    this.#blocks += 1;
    return Buffer.allocUnsafeSlow(blockSize);
  }

  /** Hands the block on to be written. */
  #pass(): void {
    if (this.#block && this.#filled > 0) this.#full.push(this.#block.subarray(0, this.#filled));
    this.#block = undefined;
    this.#filled = 0;
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  async #write(): Promise<void> {
    try {
      for (let block = this.#full.shift(); block; block = this.#full.shift()) await this.#whole(block);
    } catch (error) {
      this.#failed = asError(error);
      this.#full.length = 0;
      this.#room?.();
    }
  }

  /** A disk that fills up takes less than it was given before it says so. */
  async #whole(block: Buffer): Promise<void> {
    for (let done = 0; done < block.length; ) {
      const { bytesWritten } = await this.#file.write(block, done, block.length - done, this.#at);
      done += bytesWritten;
      this.#at += bytesWritten;
    }
    this.#free.push(Buffer.from(block.buffer));
    this.#written?.(this.#at);
    this.#room?.();
  }
}
