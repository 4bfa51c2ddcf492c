// Requests out of the bytes of one connection, in whatever pieces they come. Own, because a small request costs twice as much
// through Node's http module, and because a drain without a lost request needs the connection in hand: see
// docs/design/0015-serve.md.

import { ChunkedBody, tooLarge } from './chunks.ts';
import { type Head, readHead, Unreadable } from './head.ts';

/** A whole request. */
export interface Request extends Head {
  body: Buffer;
}

/** What comes out of a connection; `undefined` while bytes are missing. */
export type Read = { request: Request } | { wrong: Unreadable } | 'send the body' | undefined;

/** Bounds of one request, and the memory that all of them share. */
export interface Limits {
  head: number;
  body: number;
  /** Takes memory for a body; false when too much is taken already. */
  reserve(bytes: number): boolean;
}

const none = Buffer.alloc(0);

/** Bodies up to this size come with their heads mostly, and are not counted. */
const small = 65_536;

export class RequestReader {
  readonly #limits: Limits;
  #bytes: Buffer = none;
  #head: Head | undefined;
  #body: { whole: Buffer; filled: number } | ChunkedBody | undefined;
  #reserved = 0;
  #asked = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Bytes that wait: of the next request while one is answered. */
  get waiting(): number {
    return this.#bytes.length;
  }

  /** Whether a request has begun and is not whole. */
  get partial(): boolean {
    return this.#head !== undefined || this.#bytes.length > 0;
  }

  /** Bytes that the present body may still have, for judging how long it may take. */
  get announced(): number {
    return typeof this.#head?.length === 'number' ? this.#head.length : this.#limits.body;
  }

  push(bytes: Buffer): void {
    if (this.#body && !(this.#body instanceof ChunkedBody) && this.#bytes.length === 0) this.#bytes = this.#fill(bytes);
    else this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
  }

  /** The next thing that the bytes so far say. After something wrong there is nothing more to be had. */
  next(): Read {
    const head = this.#head ?? this.#readHead();
    if (head === undefined) return undefined;
    if (head instanceof Unreadable) return { wrong: head };
    const body = this.#readBody(head);
    if (body instanceof Unreadable) return { wrong: body };
    if (body === undefined) return this.#askForBody(head);
    this.#head = undefined;
    this.#body = undefined;
    this.#asked = false;
    return { request: Object.assign(head, { body }) };
  }

  /** Takes memory for what is made of the body, until it is released; false when too much is taken already. */
  reserve(bytes: number): boolean {
    if (!this.#limits.reserve(bytes)) return false;
    this.#reserved += bytes;
    return true;
  }

  /** Gives back the memory of the last body. */
  release(): void {
    if (this.#reserved > 0) this.#limits.reserve(-this.#reserved);
    this.#reserved = 0;
  }

  #readHead(): Head | Unreadable | undefined {
    while (this.#bytes.length >= 2 && this.#bytes[0] === 13 && this.#bytes[1] === 10)
      this.#bytes = this.#bytes.subarray(2);
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end > this.#limits.head || (end < 0 && this.#bytes.length > this.#limits.head))
      return new Unreadable(431, `The head of the request is larger than ${this.#limits.head} bytes`);
    if (end < 0) return undefined;
    const head = readHead(this.#bytes.toString('latin1', 0, end));
    if (head instanceof Unreadable) return head;
    this.#bytes = this.#bytes.subarray(end + 4);
    this.#head = head;
    return this.#begin(head);
  }

  /** Judges a body by its head, before a byte of it is kept. */
  #begin(head: Head): Head | Unreadable {
    const { length } = head;
    const most = length === 'chunked' ? small : length;
    if (most > this.#limits.body && length !== 'chunked') return tooLarge(this.#limits.body);
    if (most > small && !this.reserve(most)) return busy;
    if (length === 'chunked') this.#body = new ChunkedBody(this.#limits.body);
    return head;
  }

  #readBody({ length }: Head): Buffer | Unreadable | undefined {
    if (this.#body instanceof ChunkedBody) return this.#readChunks(this.#body);
    if (length === 'chunked') return undefined;
    if (!this.#body) {
      if (this.#bytes.length >= length) return this.#cut(length);
      this.#body = { whole: Buffer.allocUnsafeSlow(length), filled: 0 };
      this.#bytes = this.#fill(this.#bytes);
    }
    return this.#body.filled === length ? this.#body.whole : undefined;
  }

  #readChunks(body: ChunkedBody): Buffer | Unreadable | undefined {
    const taken = body.take(this.#bytes);
    if (taken instanceof Unreadable) return taken;
    this.#bytes = this.#bytes.subarray(taken.used);
    const more = body.size - this.#reserved;
    if (body.size > small && more > 0 && !this.reserve(more)) return busy;
    return taken.body;
  }

  #cut(length: number): Buffer {
    const body = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.length === length ? none : this.#bytes.subarray(length);
    return body;
  }

  /** Into the body, as far as it goes; gives what is left. */
  #fill(bytes: Buffer): Buffer {
    const body = this.#body as { whole: Buffer; filled: number };
    const part = bytes.subarray(0, body.whole.length - body.filled);
    body.whole.set(part, body.filled);
    body.filled += part.length;
    return bytes.subarray(part.length);
  }

  /** A client that holds its body back hears once that it is welcome. */
  #askForBody(head: Head): Read {
    if (!head.expects || this.#asked || this.#bytes.length > 0) return undefined;
    this.#asked = true;
    return 'send the body';
  }
}

/** The words when large requests take up all memory that they may. */
export const busyWords = 'Too many large requests are under way: try again in a moment';
const busy = new Unreadable(503, busyWords);
