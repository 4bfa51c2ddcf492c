// A watch on the wire: one answer that never ends by itself, cut into lines. Lines are cut from bytes, before they are
// text, so a character that arrives in two pieces stays whole. Nobody's clock but the opener's runs here: how long a
// silence may last is for the reader of the lines to judge.

import type { Dispatcher } from 'undici';
import type { Credential } from './access.ts';
import { type Line, readable } from './call.ts';
import { type NoAnswer, refusal, unanswered } from './errors.ts';
import type { Request } from './request.ts';

/** What a watch tells its reader. */
export interface WatchHandler {
  /** The server has accepted the watch. */
  onOpen?(): void;
  onLine(text: string): void;
  /** Some bytes arrived, perhaps not yet a line. */
  onData?(): void;
}

const newline = 10;
/** The API server itself stores nothing nearly as big. */
const longestLine = 16 * 1024 * 1024;
/** The server answers at once with headers; whoever does not is not there. */
const openWithin = 30_000;

/** Resolves when the server ends the watch; everything else is an error. */
export function follow(line: Line, request: Request, handler: WatchHandler, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    new Watch(line, request, handler, signal, resolve, reject).start();
  });
}

class Watch implements Dispatcher.DispatchHandler {
  readonly #line: Line;
  readonly #request: Request;
  readonly #handler: WatchHandler;
  readonly #signal: AbortSignal;
  readonly #done: () => void;
  readonly #fail: (error: unknown) => void;
  readonly #begun: number;
  #cancelTimer: () => void;
  #credential: Credential | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #refreshed = false;
  #status = 0;
  #retryAfter: string | undefined;
  #pieces: Buffer[] = [];
  #held = 0;

  constructor(
    line: Line,
    request: Request,
    handler: WatchHandler,
    signal: AbortSignal,
    done: () => void,
    fail: (error: unknown) => void,
  ) {
    this.#line = line;
    this.#request = request;
    this.#handler = handler;
    this.#signal = signal;
    this.#done = done;
    this.#fail = fail;
    this.#begun = line.transport.clock.monotonic();
    this.#cancelTimer = line.transport.clock.after(openWithin, this.#late);
    signal.addEventListener('abort', this.#aborted, { once: true });
  }

  start(): void {
    if (this.#signal.aborted) return this.#aborted();
    void this.#begin();
  }

  async #begin(refused?: Credential): Promise<void> {
    try {
      this.#credential = await this.#line.transport.credential(refused);
    } catch (error) {
      return this.#giveUp('Credentials', readable(error), error);
    }
    if (this.#settled) return;
    this.#dispatch(this.#credential);
  }

  #dispatch(credential: Credential): void {
    const { transport } = this.#line;
    const { path, accept } = this.#request;
    const headers = transport.headers(credential, accept, '');
    try {
      transport.dispatch('watches', credential, { method: 'GET', path: transport.prefix + path, headers }, this);
    } catch (error) {
      this.#giveUp(transport.closed ? 'Closed' : 'Network', readable(error), error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) throw new Error('the watch was given up before it began');
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    this.#status = status;
    const wait = headers['retry-after'];
    this.#retryAfter = typeof wait === 'string' ? wait : undefined;
    if (status !== 200) return;
    this.#cancelTimer();
    this.#guarded(() => this.#handler.onOpen?.());
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    if (this.#status !== 200) return this.#hold(chunk);
    this.#guarded(() => {
      this.#handler.onData?.();
      this.#cut(chunk);
    });
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    if (this.#status === 401 && !this.#refreshed) return this.#refresh();
    if (this.#status !== 200) return this.#refuse();
    if (this.#held > 0) return this.#giveUp('Network', 'the watch ended in the middle of a line');
    this.#settle(200);
    this.#done();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#giveUp('Network', readable(error), error);
  }

  #cut(chunk: Buffer): void {
    let from = 0;
    let to = chunk.indexOf(newline);
    for (; to !== -1 && !this.#settled; to = chunk.indexOf(newline, from)) {
      const text = this.#held === 0 ? chunk.toString('utf8', from, to) : this.#take(chunk.subarray(from, to));
      from = to + 1;
      if (text !== '') this.#handler.onLine(text);
    }
    if (from < chunk.length && !this.#settled) this.#hold(chunk.subarray(from));
  }

  #hold(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held > longestLine) this.#giveUp('BadAnswer', `a line is longer than ${longestLine} bytes`);
  }

  #take(last?: Buffer): string {
    if (last) this.#pieces.push(last);
    const text = Buffer.concat(this.#pieces).toString();
    this.#pieces = [];
    this.#held = 0;
    return text;
  }

  /** An error of the reader ends the watch and comes out as it is: it is not the network's. */
  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#end(error, error as Error);
    }
  }

  #refresh(): void {
    this.#refreshed = true;
    this.#take();
    this.#controller = undefined;
    void this.#begin(this.#credential);
  }

  #refuse(): void {
    const answer = { status: this.#status, text: this.#take(), retryAfter: this.#retryAfter };
    this.#settle(answer.status);
    this.#fail(refusal(this.#request, answer, this.#credential?.secret, this.#line.transport.clock.now()));
  }

  readonly #late = (): void => {
    this.#giveUp('Deadline', `no answer within ${openWithin} ms`);
  };

  readonly #aborted = (): void => {
    this.#giveUp('Aborted', 'the watch was aborted', this.#signal.reason);
  };

  #giveUp(reason: NoAnswer, why: string, cause?: unknown): void {
    if (this.#settled) return;
    const error = unanswered(this.#request, reason, why, cause);
    this.#end(error, error);
  }

  #end(outcome: unknown, reason: Error): void {
    if (this.#settled) return;
    this.#settle(0);
    this.#fail(outcome);
    this.#controller?.abort(reason);
  }

  #settle(status: number): void {
    this.#settled = true;
    this.#pieces = [];
    this.#cancelTimer();
    this.#signal.removeEventListener('abort', this.#aborted);
    const { onRequest, transport } = this.#line;
    if (!onRequest) return;
    const { verb, resource } = this.#request;
    onRequest({ verb, resource, status, ms: transport.clock.monotonic() - this.#begun });
  }
}
