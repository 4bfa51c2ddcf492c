// A request whose answer is wanted whole. A write is never sent twice: only what changes nothing is asked again when a
// kept-alive connection turns out to be closed.

import { type Answer } from './errors.ts';
import { type Bounds, Exchange, type Line, readable } from './exchange.ts';
import type { Request } from './request.ts';

/** What bounds a request. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** Milliseconds for everything, further tries included. */
  deadline?: number;
}

const defaultDeadline = 30_000;

/** Asks, and gives what `decode` makes of the answer. */
export function ask<T>(
  line: Line,
  request: Request,
  options: RequestOptions | undefined,
  decode: (answer: Answer) => T,
): Promise<T> {
  const deadline = options?.deadline ?? defaultDeadline;
  const signal = options?.signal;
  return new Promise((resolve, reject) => {
    new Call(line, request, { lane: 'requests', deadline, signal, resolve, reject }, decode).start();
  });
}

class Call<T> extends Exchange<T> {
  readonly #decode: (answer: Answer) => T;
  /** Nearly every answer comes in one piece. */
  #first: Buffer | undefined;
  #all: Buffer[] | undefined;

  constructor(line: Line, request: Request, bounds: Bounds<T>, decode: (answer: Answer) => T) {
    super(line, request, bounds);
    this.#decode = decode;
  }

  protected take(chunk: Buffer): void {
    if (this.#first === undefined) this.#first = chunk;
    else (this.#all ??= [this.#first]).push(chunk);
  }

  protected text(): string {
    const bytes = this.#all ? Buffer.concat(this.#all) : this.#first;
    this.#first = this.#all = undefined;
    return bytes === undefined ? '' : bytes.toString();
  }

  protected finish(): void {
    let value: T;
    try {
      value = this.#decode({ status: this.status, text: this.text() });
    } catch (error) {
      return this.giveUp('BadAnswer', `the answer is not JSON (${readable(error)})`, error);
    }
    this.succeed(value);
  }

  protected mayRepeat(): boolean {
    return this.request.method === 'GET' && this.status === 0;
  }
}
