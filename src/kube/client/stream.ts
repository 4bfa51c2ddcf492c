// A watch: one answer that does not end by itself, cut into lines. Lines are cut from bytes, before they are text, so a
// character that arrives in two pieces stays whole. How long a silence may last is for the reader of the lines to judge.

import { asError } from '../../base/index.ts';
import { type Bounds, Exchange, type Line } from './exchange.ts';
import type { Request } from './request.ts';

/** What a watch tells its reader. An error that it throws ends the watch and comes out of it. */
export interface WatchHandler {
  /** The server has accepted the watch. */
  onOpen?(): void;
  onLine(text: string): void;
  /** Some bytes arrived, perhaps not yet a line. */
  onData?(): void;
}

const newline = 10;
/** Far above the largest object that an API server stores. */
const longestLine = 16 * 1024 * 1024;
/** A server answers with headers at once; who does not is not there. */
const openWithin = 30_000;

/** Resolves when the server ends the watch; every other end is an error. */
export function follow(line: Line, request: Request, handler: WatchHandler, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    new Watch(line, request, { lane: 'watches', deadline: openWithin, signal, resolve, reject }, handler).start();
  });
}

class Watch extends Exchange<void> {
  readonly #handler: WatchHandler;
  /** The beginning of a line whose end has not come yet. */
  #pieces: Buffer[] = [];
  #held = 0;

  constructor(line: Line, request: Request, bounds: Bounds<void>, handler: WatchHandler) {
    super(line, request, bounds);
    this.#handler = handler;
  }

  override onResponseStart(...[controller, status, headers]: Parameters<Exchange<void>['onResponseStart']>): void {
    super.onResponseStart(controller, status, headers);
    if (status !== 200) return;
    this.endDeadline();
    this.#guarded(() => this.#handler.onOpen?.());
  }

  protected take(chunk: Buffer): void {
    if (this.status !== 200) return this.#hold(chunk);
    this.#guarded(() => {
      this.#handler.onData?.();
      this.#cut(chunk);
    });
  }

  protected text(): string {
    const text = Buffer.concat(this.#pieces).toString();
    this.#pieces = [];
    this.#held = 0;
    return text;
  }

  protected finish(): void {
    if (this.#held > 0) return this.giveUp('Network', 'the watch ended in the middle of a line');
    this.succeed();
  }

  /** What was missed in between is for the reader to find out. */
  protected mayRepeat(): boolean {
    return false;
  }

  #cut(chunk: Buffer): void {
    let from = 0;
    for (let to = chunk.indexOf(newline); to !== -1; to = chunk.indexOf(newline, from)) {
      const text = this.#held === 0 ? chunk.toString('utf8', from, to) : this.#joined(chunk.subarray(from, to));
      from = to + 1;
      if (text !== '') this.#handler.onLine(text);
      if (this.settled) return;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  #joined(last: Buffer): string {
    this.#pieces.push(last);
    return this.text();
  }

  #hold(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held > longestLine) this.giveUp('BadAnswer', `a line is longer than ${longestLine} bytes`);
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.fail(asError(error));
    }
  }
}
