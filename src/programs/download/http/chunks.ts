// Chunked transfer: the body in pieces, each behind its length. Bytes go in as they come, pieces of payload come out.

import { Fault } from '../outcome.ts';

const mostLine = 4_096;

/** Reads one chunked body. */
export class Chunks {
  readonly #host: string;
  #line = '';
  #left = 0;
  #at: 'size' | 'data' | 'end of data' | 'trailer' | 'done' = 'size';

  constructor(host: string) {
    this.#host = host;
  }

  get done(): boolean {
    return this.#at === 'done';
  }

  /** Takes bytes and gives the payload in them; what stands behind the end of the body is left over. */
  take(bytes: Buffer): { payload: Buffer[]; rest: Buffer } {
    const payload: Buffer[] = [];
    let rest = bytes;
    while (rest.length > 0 && this.#at !== 'done') {
      if (this.#at === 'data') {
        const piece = rest.subarray(0, this.#left);
        payload.push(piece);
        this.#left -= piece.length;
        rest = rest.subarray(piece.length);
        if (this.#left === 0) this.#at = 'end of data';
      } else rest = this.#takeLine(rest);
    }
    return { payload, rest };
  }

  #takeLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(10);
    this.#line += bytes.toString('latin1', 0, end < 0 ? bytes.length : end + 1);
    if (this.#line.length > mostLine) throw this.#wrong();
    if (end < 0) return bytes.subarray(bytes.length);
    if (!this.#line.endsWith('\r\n')) throw this.#wrong();
    this.#understand(this.#line.slice(0, -2));
    this.#line = '';
    return bytes.subarray(end + 1);
  }

  #understand(line: string): void {
    if (this.#at === 'trailer') {
      if (line === '') this.#at = 'done';
      return;
    }
    if (this.#at === 'end of data') {
      if (line !== '') throw this.#wrong();
      this.#at = 'size';
      return;
    }
    const size = /^([0-9a-fA-F]{1,13})(?:[ \t]*;.*)?$/.exec(line)?.[1];
    if (size === undefined) throw this.#wrong();
    this.#left = Number.parseInt(size, 16);
    this.#at = this.#left === 0 ? 'trailer' : 'data';
  }

  #wrong(): Fault {
    return new Fault(`${this.#host} sent a body whose pieces do not fit together`);
  }
}
