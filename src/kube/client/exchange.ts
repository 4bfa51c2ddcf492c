// One question and its answer as undici's dispatch handler: what requests and watches have in common. No stream, no
// timer and no promise more than needed, since an operator lives from thousands of small writes. Whatever happens,
// the outcome is told exactly once, and a connection that is no longer listened to is cut.

import type { Dispatcher } from 'undici';
import type { Credential } from './access.ts';
import { type NoAnswer, refusal, unanswered } from './errors.ts';
import type { Request } from './request.ts';
import type { Lane, Transport } from './transport.ts';

/** What happened to a request, for metrics. */
export interface Requested {
  verb: string;
  resource: string;
  /** 0 when there was no answer. */
  status: number;
  ms: number;
}

/** What all exchanges of a client share. */
export interface Line {
  readonly transport: Transport;
  /** Asked when a write is about to go onto the socket; its error stops the write. */
  readonly fence: (() => Error | undefined) | undefined;
  readonly onRequest: ((requested: Requested) => void) | undefined;
}

/** What bounds an exchange, and who is told how it ended. */
export interface Bounds<T> {
  lane: Lane;
  /** Milliseconds until the answer must be there. */
  deadline: number;
  signal: AbortSignal | undefined;
  resolve: (value: T) => void;
  reject: (error: unknown) => void;
}

/** A question on its way. Subclasses say what they do with the bytes that come back. */
export abstract class Exchange<T> implements Dispatcher.DispatchHandler {
  protected readonly request: Request;
  protected settled = false;
  protected status = 0;
  protected retryAfter: string | undefined;
  readonly #line: Line;
  readonly #bounds: Bounds<T>;
  readonly #begun: number;
  readonly #cancelDeadline: () => void;
  #credential: Credential | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #refreshed = false;
  #repeated = false;

  constructor(line: Line, request: Request, bounds: Bounds<T>) {
    const { clock } = line.transport;
    this.request = request;
    this.#line = line;
    this.#bounds = bounds;
    this.#begun = line.onRequest ? clock.monotonic() : 0;
    this.#cancelDeadline = clock.after(bounds.deadline, this.#late);
    bounds.signal?.addEventListener('abort', this.#aborted, { once: true });
  }

  /** Some bytes of the answer. */
  protected abstract take(chunk: Buffer): void;
  /** The bytes so far, as text; they are forgotten then. */
  protected abstract text(): string;
  /** The answer is complete, and no refusal. */
  protected abstract finish(): void;
  /** Whether the same question may be asked again after its connection was cut. */
  protected abstract mayRepeat(): boolean;

  start(): void {
    if (this.#bounds.signal?.aborted) return this.#aborted();
    this.#ask();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.settled) throw new Error('the request was given up before it began');
    const fenced = this.request.write ? this.#line.fence?.() : undefined;
    if (fenced) {
      this.fail(fenced);
      throw fenced; // undici then drops the request and keeps the connection
    }
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    this.status = status;
    const wait = headers['retry-after'];
    this.retryAfter = typeof wait === 'string' ? wait : undefined;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.settled) this.take(chunk);
  }

  onResponseEnd(): void {
    if (this.settled) return;
    if (this.status === 401 && !this.#refreshed) return this.#refresh();
    if (this.status >= 300) return this.#refuse();
    this.finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.settled) return;
    if (this.#line.transport.closed) return this.giveUp('Closed', 'the client is closed', error);
    const unsent = this.#controller === undefined;
    if (this.#repeated || !wasCut(error) || !(unsent || this.mayRepeat()))
      return this.giveUp('Network', readable(error), error);
    this.#repeated = true;
    this.#ask();
  }

  /** The one good end. */
  protected succeed(value: T): void {
    if (this.settled) return;
    this.#settle();
    this.#bounds.resolve(value);
    this.#report(this.status);
  }

  /** Ends without an answer that could be used. */
  protected giveUp(reason: NoAnswer, why: string, cause?: unknown): void {
    if (!this.settled) this.fail(unanswered(this.request, reason, why, cause));
  }

  /** Ends with an error as it is. */
  protected fail(error: Error): void {
    if (this.settled) return;
    this.#settle();
    this.#bounds.reject(error);
    this.#controller?.abort(error);
    this.#report(0);
  }

  /** From here on only the signal ends it. */
  protected endDeadline(): void {
    this.#cancelDeadline();
  }

  #ask(refused?: Credential): void {
    try {
      const credential = this.#line.transport.credential(refused);
      if (!(credential instanceof Promise)) return this.#dispatch(credential);
      credential.then((value) => this.#dispatch(value), this.#noCredential);
    } catch (error) {
      this.#noCredential(error);
    }
  }

  #dispatch(credential: Credential): void {
    if (this.settled) return;
    const { transport } = this.#line;
    if (transport.closed) return this.giveUp('Closed', 'the client is closed');
    const { method, path, body, accept, contentType } = this.request;
    this.#credential = credential;
    this.#controller = undefined;
    this.status = 0;
    const headers = transport.headers(credential, accept, contentType);
    try {
      // `reset: false` because undici would close the connection after a DELETE with a body
      const options = { method, path: transport.prefix + path, headers, body: body ?? null, reset: false };
      transport.dispatch(this.#bounds.lane, credential, options, this);
    } catch (error) {
      this.giveUp('Network', readable(error), error);
    }
  }

  /** What was answered 401 was not executed: with a fresh credential it may be asked again. */
  #refresh(): void {
    this.#refreshed = true;
    this.text();
    this.#ask(this.#credential);
  }

  #refuse(): void {
    const { status, retryAfter } = this;
    const { clock } = this.#line.transport;
    const error = refusal(
      this.request,
      { status, text: this.text(), retryAfter },
      this.#credential?.secret,
      clock.now(),
    );
    this.#settle();
    this.#bounds.reject(error);
    this.#report(status);
  }

  readonly #late = (): void => {
    this.giveUp('Deadline', `no answer within ${this.#bounds.deadline} ms`);
  };

  readonly #aborted = (): void => {
    this.giveUp('Aborted', 'it was aborted', this.#bounds.signal?.reason);
  };

  readonly #noCredential = (error: unknown): void => {
    this.giveUp('Credentials', readable(error), error);
  };

  #settle(): void {
    this.settled = true;
    this.#cancelDeadline();
    this.#bounds.signal?.removeEventListener('abort', this.#aborted);
  }

  #report(status: number): void {
    const { onRequest, transport } = this.#line;
    if (!onRequest) return;
    const { verb, resource } = this.request;
    onRequest({ verb, resource, status, ms: transport.clock.monotonic() - this.#begun });
  }
}

/** Whether a connection ended, rather than that there never was one. */
function wasCut(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

const strangers = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** One line about an error below HTTP. A host with several addresses fails with an error for each. */
export function readable(error: unknown): string {
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  const { code, message } = (first ?? error) as NodeJS.ErrnoException;
  const text = (message || String(code ?? error)).replace(/\s+/g, ' ');
  if (!strangers.has(code ?? '')) return text;
  return `the server's certificate is not signed by the certificate authority that we were given (${text})`;
}
