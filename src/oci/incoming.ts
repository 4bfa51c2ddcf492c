// The bytes of an answer on their way to whoever reads them. A reader that is slower than the network slows it down: no
// more than a few buffers are ever held.

import type { Dispatcher } from 'undici';

/** What is held before the connection is told to wait. */
const mostHeld = 1024 * 1024;

/** What is read only to keep a connection. */
const mostDiscarded = 64 * 1024;

/** A body that is read once, piece by piece. Leaving early ends the connection. */
export class Incoming implements AsyncIterableIterator<Buffer> {
  readonly #controller: Dispatcher.DispatchController;
  readonly #held: Buffer[] = [];
  #size = 0;
  #ended = false;
  #error: Error | undefined;
  #waiting: (() => void) | undefined;

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
  }

  take(piece: Buffer): void {
    this.#held.push(piece);
    this.#size += piece.length;
    if (this.#size > mostHeld) this.#controller.pause();
    this.#wake();
  }

  end(error?: Error): void {
    this.#ended = true;
    this.#error ??= error;
    this.#wake();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      const value = this.#held.shift();
      if (value) return this.#given(value);
      if (this.#error) throw this.#error;
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => (this.#waiting = resolve));
    }
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#held.length = 0;
    if (!this.#ended) this.#controller.abort(new Error('nobody reads the rest'));
    return { done: true, value: undefined };
  }

  /** Reads on to the end where it is near, so that the connection can be used again. */
  async discard(): Promise<void> {
    let size = 0;
    for await (const piece of this) {
      size += piece.length;
      if (size > mostDiscarded) return;
    }
  }

  #given(value: Buffer): IteratorResult<Buffer, undefined> {
    this.#size -= value.length;
    if (this.#controller.paused && this.#size < mostHeld / 2) this.#controller.resume();
    return { done: false, value };
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}
