// The body of an answer. It goes straight into whatever it is given to, without a promise for each piece, and no piece
// outlives its turn: of a gigabyte little more than a few buffers is ever in memory.

import type { Dispatcher } from 'undici';
import { asError } from '../base/index.ts';
import { Memory, type Sink } from './sink.ts';

/** What is read only to keep a connection. */
const mostDiscarded = 64 * 1024;

/** A body on its way; it is taken once. */
export class Incoming {
  readonly #controller: Dispatcher.DispatchController;
  #held: Buffer[] = [];
  #sink: Sink | undefined;
  #end: { error: Error | undefined } | undefined;
  #done: (() => void) | undefined;
  #waiting: Promise<void> | undefined;

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
  }

  /** A piece from the network. As long as nobody takes the body, the connection waits. */
  take(piece: Buffer): void {
    if (this.#sink) return this.#give(piece);
    this.#held.push(Buffer.from(piece));
    this.#controller.pause();
  }

  /** The network has no more. */
  end(error?: Error): void {
    this.#end ??= { error };
    this.#done?.();
  }

  /** Everything into a sink, to the end. */
  async flow(sink: Sink): Promise<void> {
    this.#sink = sink;
    for (const piece of this.#held) this.#give(piece);
    this.#held = [];
    if (this.#controller.paused && !this.#waiting) this.#controller.resume();
    if (!this.#end) await new Promise<void>((resolve) => (this.#done = resolve));
    await this.#waiting;
    if (this.#end?.error) throw this.#end.error;
  }

  /** All of it in memory; more than `most` is an error. */
  async whole(most: number, over: (size: number) => Error): Promise<Buffer> {
    const memory = new Memory(most, over);
    await this.flow(memory);
    return memory.bytes();
  }

  /** Ends the connection: nobody wants what comes. */
  drop(): void {
    this.#fail(new Error('nobody reads the rest'));
  }

  /** Reads on to the end where it is near, so that the connection can be used again. */
  async discard(): Promise<void> {
    await this.whole(mostDiscarded, () => new Error('nobody reads the rest')).catch(() => undefined);
  }

  #give(piece: Buffer): void {
    try {
      const full = this.#sink?.put(piece);
      if (full) this.#wait(full);
    } catch (error) {
      this.#fail(error);
    }
  }

  #wait(full: Promise<void>): void {
    this.#controller.pause();
    this.#waiting = full.then(this.#resume, (error: unknown) => this.#fail(error));
  }

  readonly #resume = (): void => {
    this.#waiting = undefined;
    this.#controller.resume();
  };

  #fail(thrown: unknown): void {
    const error = asError(thrown);
    this.#sink = { put: () => undefined };
    this.#end = { error };
    this.#done?.();
    this.#controller.abort(error);
  }
}
