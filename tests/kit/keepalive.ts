// A client that never tries again: one request after the other on one connection, which it leaves only when an answer says so.
// Whatever else happens to a request is a failure, and is counted as one. Every answer's numbers are checked.

import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What to send and how to judge the body of an answer: nothing, or what is wrong with it. */
export interface Question {
  request: Buffer;
  wrong: (body: string) => string | undefined;
}

export interface KeepAliveOptions {
  /** Where to connect, asked for at every new connection. */
  address: () => { host: string; port: number };
  question: () => Question;
  /** Milliseconds between an answer and the next request; without it a request is under way at all times. */
  rest?: number;
  /** Ends after its present request. */
  stop: () => boolean;
}

/** What one such client saw. */
export interface Seen {
  answered: number;
  connections: number;
  failures: string[];
}

/** How long an answer may take, in milliseconds. */
const patience = 30_000;

/** Asks until it is stopped; ends at the first failure. */
export async function askOnAndOn({ address, question, rest, stop }: KeepAliveOptions): Promise<Seen> {
  const seen: Seen = { answered: 0, connections: 0, failures: [] };
  let line: Line | undefined;
  try {
    while (!stop()) {
      if (!line) {
        line = await Line.open(address());
        seen.connections += 1;
      }
      const { request, wrong } = question();
      const { status, close, body } = await line.ask(request);
      const fault = status === 200 ? wrong(body) : `status ${status}: ${body.slice(0, 200)}`;
      if (fault !== undefined) throw new Error(fault);
      seen.answered += 1;
      if (close) line = line.end();
      if (rest !== undefined) await sleep(rest);
    }
  } catch (error) {
    seen.failures.push(error instanceof Error ? error.message : String(error));
  }
  line?.end();
  return seen;
}

/** One connection. */
export class Line {
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #wake: () => void = () => {};
  #broken: string | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => {
      this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
      this.#wake();
    });
    socket.on('end', () => this.#fail('the server ended the connection'));
    socket.on('error', (error) => this.#fail(error.message));
    socket.on('close', () => this.#fail('the connection was closed'));
  }

  static open({ host, port }: { host: string; port: number }): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port });
      socket.once('error', reject).once('connect', () => resolve(new Line(socket.off('error', reject))));
    });
  }

  /** Whether the other side has ended it. */
  get ended(): boolean {
    return this.#broken !== undefined;
  }

  /** Sends a request and gives its answer, which must be whole. */
  async ask(request: Buffer): Promise<{ status: number; close: boolean; body: string }> {
    if (this.#broken !== undefined) throw new Error(`before the request: ${this.#broken}`);
    this.#socket.write(request);
    const timer = setTimeout(() => this.#fail(`no answer within ${patience} ms`), patience);
    try {
      const end = await this.#until(() => {
        const found = this.#bytes.indexOf('\r\n\r\n');
        return found < 0 ? undefined : found;
      });
      const head = this.#bytes.toString('latin1', 0, end);
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
      const whole = await this.#until(() => (this.#bytes.length >= end + 4 + length ? end + 4 + length : undefined));
      const body = this.#bytes.toString('utf8', end + 4, whole);
      this.#bytes = this.#bytes.subarray(whole);
      return { status: Number(head.slice(9, 12)), close: /^connection: close$/im.test(head), body };
    } finally {
      clearTimeout(timer);
    }
  }

  end(): undefined {
    this.#socket.destroy();
  }

  async #until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#broken !== undefined) throw new Error(`while waiting for the answer: ${this.#broken}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #fail(why: string): void {
    this.#broken ??= why;
    this.#wake();
  }
}

/** A request for an inference, as bytes. */
export function inferRequest(path: string, body: string): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: model\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.from(head + body);
}
