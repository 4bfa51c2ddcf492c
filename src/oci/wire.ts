// One request and its answer, and nothing more: no redirect, no credential, no second try. Connections are kept for each
// host and made by the caller's own function where there is one, so that it can refuse addresses.

import { createSecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';
import { asError, type Clock, connector, egressRules, isTlsFault, systemResolve } from '../base/index.ts';
import { RegistryError } from './errors.ts';
import { Incoming } from './incoming.ts';
import { type Connect, recycling } from './recycled.ts';

/** How to reach hosts. */
export interface WireOptions {
  clock: Clock;
  /** In place of our own way to connect. */
  connect?: Connect;
  /** Certificates to trust in place of the usual ones; of no effect beside `connect`. */
  ca?: string | readonly string[];
  /** Milliseconds without a byte after which a connection counts as cut. */
  stallAfter?: number;
  /** Milliseconds that a registry may take to answer what was sent to it: it may be hashing a large blob. */
  answerWithin?: number;
  /** Errors of `connect` for which no second try is made; they come out as they are. */
  hopeless?: (error: Error) => boolean;
}

/** What is sent as a body; opened again for each try. */
export interface Outgoing {
  length: number;
  open: () => AsyncIterable<Uint8Array> | Uint8Array;
}

export interface Question {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH';
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: Outgoing | undefined;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Incoming;
}

const defaults = { stallAfter: 30_000, answerWithin: 300_000 };
const connectionsPerHost = 16;
const connectWithin = 15_000;

/** Connections to any number of hosts. */
export class Wire {
  readonly #options: WireOptions;
  readonly #connect: Connect;
  readonly #pools = new Map<string, Pool>();

  constructor(options: WireOptions) {
    this.#options = options;
    this.#connect = recycling(options.connect ?? anywhere(options));
  }

  /** Sends the question; the answer's body is still on its way and must be read or left. */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => reject(this.#said(question.url, error));
      const exchange = new Exchange(question, resolve, fail, (error) => this.#said(question.url, error));
      const { method, url, headers, body } = question;
      const sent = body && { body: body.open() as Dispatcher.DispatchOptions['body'] };
      const length = body && { 'content-length': String(body.length) };
      const path = `${url.pathname}${url.search}`;
      const { stallAfter = defaults.stallAfter, answerWithin = defaults.answerWithin } = this.#options;
      const patience = { headersTimeout: body ? answerWithin : stallAfter };
      const options = { method, path, headers: { ...headers, ...length }, ...sent, ...patience };
      this.#poolFor(url.origin).dispatch(options as Dispatcher.DispatchOptions, exchange);
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
    this.#pools.clear();
  }

  #poolFor(origin: string): Pool {
    const known = this.#pools.get(origin);
    if (known) return known;
    const pool = new Pool(origin, {
      allowH2: false,
      pipelining: 1,
      connections: connectionsPerHost,
      bodyTimeout: this.#options.stallAfter ?? defaults.stallAfter,
      connect: this.#connect,
    });
    this.#pools.set(origin, pool);
    return pool;
  }

  #said({ host }: URL, error: Error): Error {
    if (error instanceof RegistryError || this.#options.hopeless?.(error) === true) return error;
    const reason = isTlsFault(codeOf(error)) ? 'TLS' : 'Network';
    return new RegistryError({ reason, message: `${host}: ${error.message || codeOf(error)}`, cause: error });
  }
}

const everything = egressRules({ allow: ['0.0.0.0/0', '::/0'] });

/** To any address; for whoever has no rules about them. */
function anywhere({ clock, ca }: WireOptions): Connect {
  const secureContext = ca === undefined ? {} : { secureContext: createSecureContext({ ca: [ca].flat() }) };
  return connector({ rules: everything, resolve: systemResolve, clock, within: connectWithin, ...secureContext });
}

const codeOf = (error: Error): string => (error as NodeJS.ErrnoException).code ?? error.name;

/** undici's handler: the head resolves, the bytes go on into the body. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #question: Question;
  readonly #resolve: (answer: Answer) => void;
  readonly #reject: (error: Error) => void;
  readonly #said: (error: Error) => Error;
  #controller: Dispatcher.DispatchController | undefined;
  #body: Incoming | undefined;

  constructor(
    question: Question,
    resolve: (answer: Answer) => void,
    reject: (error: Error) => void,
    said: (error: Error) => Error,
  ) {
    this.#question = question;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#said = said;
    question.signal?.addEventListener('abort', this.#aborted, { once: true });
    if (question.signal?.aborted) this.#aborted();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#question.signal?.aborted) this.#aborted();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Answer['headers']): void {
    if (status < 200) return;
    this.#body = new Incoming(controller);
    this.#resolve({ status, headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#body?.take(piece);
  }

  onResponseEnd(): void {
    this.#leave();
    this.#body?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, thrown: Error): void {
    this.#leave();
    const error = asError(thrown);
    if (this.#body) this.#body.end(this.#said(error));
    else this.#reject(error);
  }

  readonly #aborted = (): void => {
    const cause = this.#question.signal?.reason as unknown;
    const { host } = this.#question.url;
    const error = new RegistryError({ reason: 'Aborted', message: `${host}: given up`, cause });
    this.#controller?.abort(error);
    this.#reject(error); // also while there is no connection yet
  };

  #leave(): void {
    this.#question.signal?.removeEventListener('abort', this.#aborted);
  }
}

/** One value of a header. */
export function header({ headers }: Pick<Answer, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** What a refusal says, if it is not too much. */
export async function someText({ body }: Answer): Promise<string> {
  const bytes = await body.whole(16_384, () => new Error('too long to be told')).catch(() => Buffer.alloc(0));
  return bytes.toString();
}
