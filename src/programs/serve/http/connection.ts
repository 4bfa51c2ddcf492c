// One connection: requests are answered one after the other, in order. A connection is never cut while an answer may still be on
// its way: after the last answer our side ends, and what the client still sends is read and dropped until it ends too.

import type { Socket } from 'node:net';
import { type Answer, failure, write } from './answer.ts';
import { type Limits, type Request, RequestReader } from './reader.ts';

/** A request and the way to answer it, once. */
export interface Exchange {
  request: Request;
  answer: (answer: Answer) => void;
  /** Takes memory for as long as there is no answer; false when too much is taken already. */
  reserve: (bytes: number) => boolean;
  /** Whether the client has left, so that no answer is needed. */
  gone: () => boolean;
}

/** What a connection needs of its surroundings. */
export interface Surroundings {
  limits: Limits;
  /** Milliseconds on a clock that only goes forward. */
  now: () => number;
  /** Whether answers say that the connection ends with them. */
  draining: () => boolean;
  handle: (exchange: Exchange) => void;
  /** A request was refused before anybody could handle it. */
  refused: (status: number) => void;
}

/** How long a connection may be in each state, in milliseconds; reading a body gets more by its size. */
const patience = { idle: 3_600_000, reading: 30_000, answering: 600_000, sending: 60_000, ending: 5_000 } as const;

type State = 'idle' | 'reading' | 'answering' | 'ending';

/** Bytes a second under which a client counts as stuck. */
const slowest = 16_384;

/** Bytes that may wait while a request is answered. */
const mostWaiting = 65_536;

export class Connection {
  readonly #socket: Socket;
  readonly #around: Surroundings;
  readonly #reader: RequestReader;
  #state: State = 'idle';
  #since: number;

  constructor(socket: Socket, around: Surroundings) {
    this.#socket = socket;
    this.#around = around;
    this.#reader = new RequestReader(around.limits);
    this.#since = around.now();
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('end', () => this.#clientEnded());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#closed());
  }

  /** Ends what has taken too long. */
  sweep(now: number): void {
    if (now - this.#since < this.#patience()) return;
    if (this.#state !== 'reading') return void this.#socket.destroy();
    this.#refuse(408, 'The request did not come in time');
  }

  /** Ends it without asking anybody. */
  destroy(): void {
    this.#socket.destroy();
  }

  #patience(): number {
    if (this.#state === 'reading') return patience.reading + (this.#reader.announced / slowest) * 1_000;
    return this.#state === 'idle' && this.#socket.writableLength > 0 ? patience.sending : patience[this.#state];
  }

  #take(bytes: Buffer): void {
    if (this.#state === 'ending') return;
    this.#reader.push(bytes);
    if (this.#state !== 'answering') return this.#advance();
    if (this.#reader.waiting > mostWaiting) this.#socket.pause();
  }

  /** Handles what has come in whole. A request that is answered at once lets the next one in. */
  #advance(): void {
    while (this.#state === 'idle' || this.#state === 'reading') {
      const read = this.#reader.next();
      if (read === undefined) return this.#enter(this.#reader.partial ? 'reading' : 'idle');
      if (read === 'send the body') this.#socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
      else if ('wrong' in read) this.#refuse(read.wrong.status, read.wrong.words);
      else this.#hand(read.request);
    }
  }

  #hand(request: Request): void {
    this.#enter('answering');
    this.#around.handle({
      request,
      answer: (answer) => this.#answer(request, answer),
      reserve: (bytes) => this.#reader.reserve(bytes),
      gone: () => this.#socket.destroyed,
    });
  }

  #answer({ method, keepAlive }: Request, answer: Answer): void {
    this.#reader.release();
    if (this.#socket.destroyed) return;
    const close = !keepAlive || this.#around.draining() || this.#socket.readableEnded;
    write(this.#socket, answer, { close, bodiless: method === 'HEAD' });
    if (close) return this.#end();
    this.#enter('idle');
    if (this.#reader.waiting === 0) return;
    if (this.#socket.isPaused()) this.#socket.resume();
    setImmediate(() => this.#advance());
  }

  #refuse(status: number, words: string): void {
    this.#around.refused(status);
    this.#reader.release();
    write(this.#socket, failure(status, words), { close: true, bodiless: false });
    this.#end();
  }

  /** Unread bytes would make the kernel reset the connection and take the answer along, so they are read and dropped. */
  #end(): void {
    this.#enter('ending');
    this.#socket.end();
    this.#socket.resume();
  }

  #clientEnded(): void {
    if (this.#state !== 'answering') this.#socket.end();
  }

  /** Who answers a client that has left still holds its memory until the answer. */
  #closed(): void {
    if (this.#state !== 'answering') this.#reader.release();
  }

  #enter(state: State): void {
    if (state === 'reading' && this.#state === 'reading') return;
    this.#state = state;
    this.#since = this.#around.now();
  }
}
