// A body that comes in chunks, as clients send it that do not know its length beforehand. Chunk extensions and trailers are
// read and dropped; every line and the whole body are bounded.

import { Unreadable } from './head.ts';

/** Longest line of a chunk's size, and most bytes of trailers. */
const mostLine = 256;
const mostTrailers = 8_192;

/** Collects chunks; `take` says how much of the bytes it used, and whether the body is whole. */
export class ChunkedBody {
  readonly #limit: number;
  /** Grows by doubling: a body in chunks of one byte shall not cost a hundred times its size. */
  #kept = Buffer.allocUnsafeSlow(4_096);
  #filled = 0;
  /** Bytes of all chunks that were announced. */
  #size = 0;
  #trailers = 0;
  /** Bytes of the present chunk that are still to come; a line is awaited when there are none. */
  #left = 0;
  #awaits: 'size' | 'data' | 'end of data' | 'trailers' = 'size';

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /** Uses bytes from the front: how many, and the whole body once its end was seen. */
  take(bytes: Buffer): { used: number; body?: Buffer } | Unreadable {
    let used = 0;
    for (;;) {
      const rest = bytes.subarray(used);
      if (this.#awaits === 'data') {
        used += this.#data(rest);
        if (this.#awaits === 'data') return { used };
        continue;
      }
      const end = rest.indexOf('\r\n');
      if (end < 0) return rest.length > mostLine ? broken('a line without end') : { used };
      used += end + 2;
      const step = this.#line(rest.toString('latin1', 0, end));
      if (step instanceof Unreadable) return step;
      if (step === 'whole') return { used, body: this.#kept.subarray(0, this.#filled) };
    }
  }

  #data(bytes: Buffer): number {
    const part = bytes.subarray(0, this.#left);
    this.#keep(part);
    this.#left -= part.length;
    if (this.#left === 0) this.#awaits = 'end of data';
    return part.length;
  }

  #keep(part: Buffer): void {
    const needed = this.#filled + part.length;
    if (needed > this.#kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#kept.length * 2));
      larger.set(this.#kept.subarray(0, this.#filled));
      this.#kept = larger;
    }
    this.#kept.set(part, this.#filled);
    this.#filled = needed;
  }

  #line(line: string): 'more' | 'whole' | Unreadable {
    if (this.#awaits === 'size') return this.#begin(line);
    if (this.#awaits === 'end of data') {
      this.#awaits = 'size';
      return line === '' ? 'more' : broken('a chunk that is longer than its size');
    }
    this.#trailers += line.length;
    if (this.#trailers > mostTrailers) return new Unreadable(431, 'The trailers are too long');
    return line === '' ? 'whole' : 'more';
  }

  #begin(line: string): 'more' | Unreadable {
    const size = /^([\da-f]{1,12})(?:[\t ]*;.*)?$/i.exec(line)?.[1];
    if (size === undefined) return broken('a chunk without a size');
    this.#left = Number.parseInt(size, 16);
    this.#size += this.#left;
    if (this.#size > this.#limit) return tooLarge(this.#limit);
    this.#awaits = this.#left === 0 ? 'trailers' : 'data';
    return 'more';
  }
}

const broken = (what: string): Unreadable => new Unreadable(400, `The chunked body has ${what}`);

/** The words for a body over the limit. */
export const tooLarge = (limit: number): Unreadable =>
  new Unreadable(413, `The body is larger than the ${limit} bytes that this server takes: see --body-limit`);
