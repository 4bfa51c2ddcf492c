// One request from question to answer, as undici's dispatch handler: no stream, no timer and no promise more than it
// needs, since an operator lives from thousands of small writes. A write is never sent twice; what was not executed
// (no byte sent, or refused with 401) or changes nothing (a GET) may be tried once more.

import type { Dispatcher } from 'undici';
import type { Credential } from './access.ts';
import { type Answer, type NoAnswer, refusal, unanswered } from './errors.ts';
import type { Request } from './request.ts';
import type { Transport } from './transport.ts';

/** What bounds a request. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** Milliseconds for everything, tries included. */
  deadline?: number;
}

/** What happened to a request, for metrics. */
export interface Requested {
  verb: string;
  resource: string;
  status: number;
  ms: number;
}

/** What a call needs besides its request. */
export interface Line {
  readonly transport: Transport;
  /** Asked when a write is about to go onto the socket; its error stops the write. */
  readonly fence: (() => Error | undefined) | undefined;
  readonly onRequest: ((requested: Requested) => void) | undefined;
}

const defaultDeadline = 30_000;

/** Asks once and gives what `decode` makes of the answer. */
export function ask<T>(
  line: Line,
  request: Request,
  options: RequestOptions | undefined,
  decode: (answer: Answer) => T,
) {
  return new Promise<T>((resolve, reject) => {
    new Call(line, request, options, (answer) => resolve(decode(answer)), reject).start();
  });
}

class Call implements Dispatcher.DispatchHandler {
  readonly #line: Line;
  readonly #request: Request;
  readonly #signal: AbortSignal | undefined;
  readonly #deadline: number;
  readonly #done: (answer: Answer) => void;
  readonly #fail: (error: unknown) => void;
  #cancelTimer: () => void;
  readonly #begun: number;
  #credential: Credential | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #retried = false;
  #refreshed = false;
  #status = 0;
  #retryAfter: string | undefined;
  #first: Buffer | undefined;
  #rest: Buffer[] | undefined;

  constructor(
    line: Line,
    request: Request,
    options: RequestOptions | undefined,
    done: (answer: Answer) => void,
    fail: (error: unknown) => void,
  ) {
    const { clock } = line.transport;
    this.#line = line;
    this.#request = request;
    this.#signal = options?.signal;
    this.#deadline = options?.deadline ?? defaultDeadline;
    this.#done = done;
    this.#fail = fail;
    this.#begun = line.onRequest ? clock.monotonic() : 0;
    this.#cancelTimer = clock.after(this.#deadline, this.#late);
    this.#signal?.addEventListener('abort', this.#aborted, { once: true });
  }

  start(): void {
    if (this.#signal?.aborted) return this.#aborted();
    this.#withCredential(() => this.#line.transport.credential());
  }

  #withCredential(get: () => Credential | Promise<Credential>): void {
    try {
      const credential = get();
      if (!(credential instanceof Promise)) return this.#dispatch(credential);
      credential.then((value) => this.#dispatch(value), this.#noCredential);
    } catch (error) {
      this.#noCredential(error);
    }
  }

  #dispatch(credential: Credential): void {
    if (this.#settled) return;
    const { transport } = this.#line;
    if (transport.closed) return this.#giveUp('Closed', 'the client is closed');
    const { method, path, body, accept, contentType } = this.#request;
    this.#credential = credential;
    this.#controller = undefined;
    this.#status = 0;
    this.#first = this.#rest = undefined;
    const headers = transport.headers(credential, accept, contentType);
    try {
      // `reset: false` because undici would close the connection after a DELETE with a body
      const options = { method, path: transport.prefix + path, headers, body: body ?? null, reset: false };
      transport.dispatch('requests', credential, options, this);
    } catch (error) {
      this.#giveUp('Network', readable(error), error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) throw new Error('the request was given up before it began');
    const fenced = this.#request.write ? this.#line.fence?.() : undefined;
    if (fenced) {
      this.#settle(0);
      this.#fail(fenced);
      throw fenced;
    }
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    this.#status = status;
    const wait = headers['retry-after'];
    this.#retryAfter = typeof wait === 'string' ? wait : undefined;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#first === undefined) this.#first = chunk;
    else (this.#rest ??= [this.#first]).push(chunk);
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    if (this.#status === 401 && !this.#refreshed) return this.#refresh();
    const answer: Answer = { status: this.#status, text: this.#text(), retryAfter: this.#retryAfter };
    this.#settle(answer.status);
    if (answer.status >= 300) return this.#fail(this.#refusal(answer));
    try {
      this.#done(answer);
    } catch (error) {
      this.#fail(unanswered(this.#request, 'BadAnswer', `the answer is not JSON (${readable(error)})`, error));
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#settled) return;
    if (this.#mayTryAgain(error)) {
      this.#retried = true;
      return this.#withCredential(() => this.#line.transport.credential());
    }
    this.#giveUp('Network', readable(error), error);
  }

  /** A kept-alive connection may be closed by the server just when it is used again. */
  #mayTryAgain(error: Error): boolean {
    const harmless = this.#controller === undefined || (this.#request.method === 'GET' && this.#status === 0);
    return harmless && !this.#retried && !this.#line.transport.closed && wasCut(error);
  }

  /** A request that was answered 401 was not executed: with a fresh credential it may be asked again. */
  #refresh(): void {
    this.#refreshed = true;
    this.#withCredential(() => this.#line.transport.credential(this.#credential));
  }

  #text(): string {
    if (this.#rest) return Buffer.concat(this.#rest).toString();
    return this.#first ? this.#first.toString() : '';
  }

  #refusal(answer: Answer) {
    return refusal(this.#request, answer, this.#credential?.secret, this.#line.transport.clock.now());
  }

  readonly #late = (): void => {
    this.#giveUp('Deadline', `no answer within ${this.#deadline} ms`);
  };

  readonly #aborted = (): void => {
    this.#giveUp('Aborted', 'the request was aborted', this.#signal?.reason);
  };

  readonly #noCredential = (error: unknown): void => {
    this.#giveUp('Credentials', readable(error), error);
  };

  #giveUp(reason: NoAnswer, why: string, cause?: unknown): void {
    if (this.#settled) return;
    this.#settle(0);
    const error = unanswered(this.#request, reason, why, cause);
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #settle(status: number): void {
    this.#settled = true;
    this.#cancelTimer();
    this.#signal?.removeEventListener('abort', this.#aborted);
    const { onRequest, transport } = this.#line;
    if (!onRequest) return;
    const { verb, resource } = this.#request;
    onRequest({ verb, resource, status, ms: transport.clock.monotonic() - this.#begun });
  }
}

/** Whether the connection ended, rather than that there never was one. */
export function wasCut(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

/** One line about an error of the network. A host with several addresses fails with an error for each. */
export function readable(error: unknown): string {
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  const { code, message } = (first ?? error) as NodeJS.ErrnoException;
  return (message || String(code ?? error)).replace(/\s+/g, ' ');
}
