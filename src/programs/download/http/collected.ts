// A small body in memory: listings, error messages. It grows with what comes and not beyond its limit.

import { Fault } from '../outcome.ts';
import type { Sink } from './connection.ts';

/** Keeps a body of at most `most` bytes. */
export class Collected implements Sink {
  readonly #most: number;
  readonly #host: string;
  #bytes = Buffer.alloc(16_384);
  #size = 0;

  constructor(most: number, host: string) {
    this.#most = most;
    this.#host = host;
  }

  room(): Uint8Array {
    if (this.#size > this.#most)
      throw new Fault(`${this.#host} answered with more than ${this.#most} bytes`, { again: 'never' });
    if (this.#size === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    return this.#bytes.subarray(this.#size);
  }

  filled(count: number): void {
    this.#size += count;
  }

  whenRoom(resume: () => void): void {
    resume();
  }

  text(): string {
    return this.#bytes.toString('utf8', 0, this.#size);
  }
}
