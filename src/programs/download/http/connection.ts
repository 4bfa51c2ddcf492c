// One connection and one answer at a time. Bodies are read straight into the memory from which they are written to disk:
// the general clients of Node spend three times the processor time on a large file, most of it on fresh buffers.

import type { Socket } from 'node:net';
import { type Destination, dial, type DialOptions } from '../../../base/index.ts';
import { Fault } from '../outcome.ts';
import { Chunks } from './chunks.ts';
import { type Framing, type Head, mostHead, parseHead } from './head.ts';

/** Where a body goes. */
export interface Sink {
  /** Room for the next bytes; undefined when there is none at the moment. */
  room(): Uint8Array | undefined;
  /** So many bytes of the room are filled. */
  filled(count: number): void;
  /** Calls back once there is room again. */
  whenRoom(resume: () => void): void;
}

interface Waiting<T> {
  resolve: (value: T) => void;
  reject: (error: Error) => void;
}

type Phase =
  | { at: 'idle' }
  | { at: 'head'; bytes: Buffer; waiting: Waiting<Head> }
  /** The head was given out, and nobody has asked for the body yet. */
  | { at: 'between' }
  | { at: 'body'; sink: Sink; left: number; chunks: Chunks | undefined; untilClose: boolean; waiting: Waiting<void> }
  | { at: 'over'; why: Error };

/** Bytes that came and could not be given on yet. */
const spillSize = 65_536;

/** A connection to one host. */
export class Connection {
  readonly #host: string;
  readonly #spill = Buffer.allocUnsafeSlow(spillSize);
  #socket: Socket | undefined;
  #phase: Phase = { at: 'idle' };
  #pending: Buffer[] = [];
  #paused = false;

  private constructor(host: string) {
    this.#host = host;
  }

  /** Connects. `stall`: milliseconds without a byte after which the connection counts as lost. */
  static async open(to: Destination, options: DialOptions & { stall: number }): Promise<Connection> {
    const connection = new Connection(to.hostname);
    const onread = {
      buffer: () => connection.#next(),
      callback: (n: number, into: Uint8Array) => connection.#got(n, into),
    };
    const socket = await dial({ ...to, onread }, options);
    connection.#attach(socket, options.stall);
    return connection;
  }

  /** Whether another request can be sent. */
  get idle(): boolean {
    return this.#phase.at === 'idle';
  }

  /** Sends a request and gives the head of the answer; the body must be read next, or the connection closed. */
  ask(request: string): Promise<Head> {
    return new Promise((resolve, reject) => {
      if (this.#phase.at === 'over') return reject(this.#phase.why);
      this.#phase = { at: 'head', bytes: Buffer.alloc(0), waiting: { resolve, reject } };
      this.#socket?.write(request, 'latin1');
      this.#resume();
    });
  }

  /** Reads the body to its end. */
  read(framing: Framing, sink: Sink): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#phase.at === 'over' && framing.by !== 'close') return reject(this.#phase.why);
      const ended = this.#phase.at === 'over';
      this.#phase = {
        at: 'body',
        sink,
        left: framing.by === 'length' ? framing.length : Number.POSITIVE_INFINITY,
        chunks: framing.by === 'chunks' ? new Chunks(this.#host) : undefined,
        untilClose: framing.by === 'close',
        waiting: { resolve, reject },
      };
      const came = this.#pending;
      this.#pending = [];
      this.#safely(() => came.forEach((bytes) => this.#body(bytes)));
      this.#deliver();
      if (ended) this.#end();
    });
  }

  /** Gives up whatever is under way. */
  close(why: Error = new Fault(`the connection to ${this.#host} is closed`)): void {
    const phase = this.#phase;
    this.#phase = { at: 'over', why };
    this.#pending = phase.at === 'between' ? this.#pending : [];
    this.#socket?.destroy();
    if (phase.at === 'head' || phase.at === 'body') phase.waiting.reject(why);
  }

  #attach(socket: Socket, stall: number): void {
    this.#socket = socket;
    const lost = (how: string, cause?: Error) =>
      this.close(new Fault(`the connection to ${this.#host} was lost: ${how}`, { cause }));
    socket.on('error', (error) => lost((error as NodeJS.ErrnoException).code ?? error.message, error));
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
    socket.setTimeout(stall, () => {
      // Nothing comes while we do not read, and nothing is missed between two requests.
      if (this.#paused || this.#phase.at === 'idle') socket.setTimeout(stall);
      else lost(`nothing came for ${stall / 1_000} s`);
    });
  }

  /** The other side has closed: the end of a body that is told by just that, and a loss for everything else. */
  #end(): void {
    const phase = this.#phase;
    if (phase.at === 'body' && phase.untilClose) {
      phase.left = 0;
      return this.#deliver();
    }
    if (phase.at !== 'over') this.close(new Fault(`${this.#host} closed the connection too early`));
  }

  /** The memory for the next bytes: that of the sink itself where nothing has to be taken apart. */
  #next(): Uint8Array {
    const { at } = this.#phase;
    if (at !== 'body' || this.#phase.chunks || this.#pending.length > 0 || this.#phase.left === 0) return this.#spill;
    const room = this.#phase.sink.room();
    return room ? room.subarray(0, Math.min(room.length, this.#phase.left)) : this.#spill;
  }

  /** Bytes came. The answer says whether to go on reading. */
  #got(count: number, into: Uint8Array): boolean {
    const phase = this.#phase;
    this.#safely(() => {
      if (into.buffer !== this.#spill.buffer && phase.at === 'body') {
        phase.left -= count;
        phase.sink.filled(count);
      } else this.#take(this.#spill.subarray(0, count));
      this.#deliver();
    });
    return !this.#paused;
  }

  #take(bytes: Buffer): void {
    if (this.#phase.at === 'head') this.#head(this.#phase, bytes);
    else if (this.#phase.at === 'body') this.#body(bytes);
    else if (this.#phase.at === 'idle') this.close(new Fault(`${this.#host} spoke without being asked`));
    else this.#pending.push(Buffer.from(bytes));
  }

  #head(phase: Extract<Phase, { at: 'head' }>, bytes: Buffer): void {
    phase.bytes = Buffer.concat([phase.bytes, bytes]);
    const end = phase.bytes.indexOf('\r\n\r\n');
    if (end > mostHead || (end < 0 && phase.bytes.length > mostHead))
      throw new Fault(`${this.#host} answered with a head of more than ${mostHead} bytes`);
    if (end < 0) return;
    const head = parseHead(phase.bytes.toString('latin1', 0, end), this.#host);
    const rest = phase.bytes.subarray(end + 4);
    if (head.status < 200) {
      phase.bytes = Buffer.alloc(0);
      return rest.length > 0 ? this.#head(phase, rest) : undefined;
    }
    this.#pending = rest.length > 0 ? [rest] : [];
    this.#phase = { at: 'between' };
    this.#paused = true;
    phase.waiting.resolve(head);
  }

  /** Takes the payload out of bytes of the body. */
  #body(bytes: Buffer): void {
    if (this.#phase.at !== 'body') return;
    const { chunks, left } = this.#phase;
    if (!chunks) this.#pending.push(bytes.subarray(0, left));
    const { payload, rest } = chunks ? chunks.take(bytes) : { payload: [], rest: bytes.subarray(left) };
    this.#pending.push(...payload);
    if (rest.length > 0) throw new Fault(`${this.#host} sent more than it said`);
  }

  /** Gives on what came, as far as there is room. */
  #deliver(): void {
    const phase = this.#phase;
    if (phase.at !== 'body') return;
    for (let piece = this.#pending[0]; piece; piece = this.#pending[0]) {
      const room = piece.length > 0 ? phase.sink.room() : undefined;
      if (piece.length > 0 && !room) break;
      const count = room ? piece.copy(room) : 0;
      phase.left -= count;
      if (count > 0) phase.sink.filled(count);
      if (count < piece.length) this.#pending[0] = piece.subarray(count);
      else this.#pending.shift();
    }
    if (this.#pending.length === 0 && (phase.left === 0 || phase.chunks?.done)) return this.#finish(phase);
    if (this.#pending.length === 0 && phase.sink.room()) return this.#resume();
    this.#paused = true;
    // TLS may bring what it has decrypted already, and that goes to where these bytes stand now.
    this.#pending = this.#pending.map((piece) => Buffer.from(piece));
    phase.sink.whenRoom(() => this.#safely(() => this.#deliver()));
  }

  #finish({ waiting, untilClose }: Extract<Phase, { at: 'body' }>): void {
    this.#phase = { at: 'idle' };
    if (untilClose) this.close();
    else this.#resume();
    waiting.resolve();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket?.resume();
  }

  /** A sink or an answer that cannot be dealt with ends the connection, not the program. */
  #safely(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.close(error instanceof Error ? error : new Fault(String(error)));
    }
  }
}
