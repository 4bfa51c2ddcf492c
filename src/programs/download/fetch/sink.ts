// From the network to a place in a file: bytes gather in a block, full blocks are written while the next one fills.

import type { Sink } from '../http/connection.ts';
import type { Blocks } from './blocks.ts';
import type { Part } from './part.ts';

/** One stretch of a file on its way. */
export class FileSink implements Sink {
  readonly #part: Part;
  readonly #blocks: Blocks;
  readonly #count: (bytes: number) => void;
  readonly #to: number;
  readonly #writes = new Set<Promise<void>>();
  #at: number;
  #block: Buffer | undefined;
  #fill = 0;
  #error: unknown;

  constructor(
    part: Part,
    blocks: Blocks,
    { from, to, count }: { from: number; to: number; count: (bytes: number) => void },
  ) {
    this.#part = part;
    this.#blocks = blocks;
    this.#count = count;
    this.#at = from;
    this.#to = to;
  }

  room(): Uint8Array | undefined {
    if (this.#error !== undefined) throw this.#error;
    this.#block ??= this.#blocks.take();
    return this.#block?.subarray(this.#fill, Math.min(this.#block.length, this.#to - this.#at));
  }

  filled(bytes: number): void {
    this.#fill += bytes;
    this.#count(bytes);
    if (this.#fill === this.#block?.length || this.#at + this.#fill === this.#to) this.#flush();
  }

  whenRoom(resume: () => void): void {
    this.#blocks.whenFree(resume);
  }

  /** Writes what is left, also of a stretch that was cut, and waits for the disk. */
  async finish(): Promise<void> {
    this.#flush();
    await Promise.all(this.#writes);
    if (this.#error !== undefined) throw this.#error;
  }

  #flush(): void {
    const [block, fill, at] = [this.#block, this.#fill, this.#at];
    this.#block = undefined;
    this.#fill = 0;
    if (!block) return;
    if (fill === 0) return this.#blocks.give(block);
    this.#at += fill;
    const write = this.#write(block, fill, at).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  async #write(block: Buffer, fill: number, at: number): Promise<void> {
    try {
      await this.#part.write(block.subarray(0, fill), at);
    } catch (error) {
      this.#error ??= error;
    } finally {
      this.#blocks.give(block);
    }
  }
}
