// Where bytes go that come from a network: into a file, into memory, or to somebody who asks for them piece by piece. A
// sink that cannot keep up says so, and the network waits.

/** Takes bytes. */
export interface Sink {
  /** Takes a piece, which is the sink's only until this returns; a promise means: nothing more before it is kept. */
  put(piece: Buffer): Promise<void> | undefined;
}

const mostHeld = 1024 * 1024;

/** Bytes for one reader who asks for them; the writer waits while too many lie here. */
export class Channel implements Sink, AsyncIterableIterator<Buffer> {
  readonly #held: Buffer[] = [];
  #size = 0;
  #ended = false;
  #error: unknown;
  #reader: (() => void) | undefined;
  #writer: (() => void) | undefined;
  readonly #left: () => void;

  /** `left` is called when the reader wants no more. */
  constructor(left: () => void) {
    this.#left = left;
  }

  put(piece: Buffer): Promise<void> | undefined {
    this.#held.push(Buffer.from(piece));
    this.#size += piece.length;
    this.#wake();
    return this.#size > mostHeld ? new Promise((resolve) => (this.#writer = resolve)) : undefined;
  }

  /** There is no more; with an error, because something went wrong. */
  end(error?: unknown): void {
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    while (this.#held.length === 0 && !this.#ended) await new Promise<void>((resolve) => (this.#reader = resolve));
    const value = this.#held.shift();
    if (value) return { done: false, value: this.#given(value) };
    if (this.#error !== undefined) throw this.#error;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#held.length = 0;
    this.#size = 0;
    if (!this.#ended) this.#left();
    this.#writer?.();
    return { done: true, value: undefined };
  }

  #given(value: Buffer): Buffer {
    this.#size -= value.length;
    if (this.#size <= mostHeld / 2) this.#writer?.();
    return value;
  }

  #wake(): void {
    this.#reader?.();
    this.#reader = undefined;
  }
}

/** Bytes in memory, at most so many. */
export class Memory implements Sink {
  readonly #pieces: Buffer[] = [];
  readonly #most: number;
  readonly #over: (size: number) => Error;
  #size = 0;

  constructor(most: number, over: (size: number) => Error) {
    this.#most = most;
    this.#over = over;
  }

  put(piece: Buffer): undefined {
    this.#size += piece.length;
    if (this.#size > this.#most) throw this.#over(this.#size);
    this.#pieces.push(Buffer.from(piece));
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
