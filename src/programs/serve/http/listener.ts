// The listening socket and its connections. It can be drained without losing a request: while it drains, every answer says that its
// connection ends; a connection on which nothing is asked stays open, because a request may be on its way on it.

import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../../base/index.ts';
import { Connection, type Surroundings } from './connection.ts';

export interface ListenOptions extends Pick<Surroundings, 'handle' | 'refused'> {
  port: number;
  host?: string;
  clock: Clock;
  /** Most bytes of one body. */
  bodyLimit: number;
}

/** Most bytes of a head; most connections; how many bodies of full size may be in memory at once. */
const mostHead = 16_384;
const mostConnections = 4_096;
const mostBodies = 8;

/** Milliseconds between two looks at the connections. */
const sweeping = 1_000;

/** Milliseconds without any connection after which a drain is over: one may be on its way. */
const quiet = 1_000;

export class Listener {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #connections = new Set<Connection>();
  readonly #around: Surroundings;
  #draining = false;
  #bodies = 0;
  #changed = 0;

  private constructor({ clock, bodyLimit, handle, refused }: ListenOptions) {
    this.#clock = clock;
    const reserve = (bytes: number) => this.#reserve(bytes, bodyLimit * mostBodies);
    this.#around = {
      limits: { head: mostHead, body: bodyLimit, reserve },
      now: () => clock.monotonic(),
      draining: () => this.#draining,
      handle,
      refused,
    };
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = mostConnections;
  }

  /** Begins to listen. */
  static open(options: ListenOptions): Promise<Listener> {
    const listener = new Listener(options);
    const { port, host } = options;
    return new Promise((resolve, reject) => {
      listener.#server.once('error', reject);
      listener.#server.listen({ port, ...(host !== undefined && { host }), backlog: 1_024 }, () => {
        listener.#server.off('error', reject).on('error', () => {});
        listener.#sweep();
        resolve(listener);
      });
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  get connections(): number {
    return this.#connections.size;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Answers go on, each the last of its connection. Resolves when none is left, or after `most` milliseconds. */
  async drain(most: number): Promise<void> {
    this.#draining = true;
    const end = this.#clock.monotonic() + most;
    this.#changed = this.#clock.monotonic();
    while (this.#clock.monotonic() < end && !this.#isQuiet()) await this.#pause(100);
  }

  /** Stops listening and ends every connection. */
  close(): void {
    this.#server.close();
    for (const connection of this.#connections) connection.destroy();
  }

  #isQuiet(): boolean {
    return this.#connections.size === 0 && this.#clock.monotonic() - this.#changed >= quiet;
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket, this.#around);
    this.#connections.add(connection);
    socket.once('close', () => {
      this.#connections.delete(connection);
      this.#changed = this.#clock.monotonic();
    });
  }

  #sweep(): void {
    this.#clock.after(sweeping, () => {
      const now = this.#clock.monotonic();
      for (const connection of this.#connections) connection.sweep(now);
      if (this.#server.listening) this.#sweep();
    });
  }

  #reserve(bytes: number, most: number): boolean {
    if (bytes > 0 && this.#bodies + bytes > most) return false;
    this.#bodies += bytes;
    return true;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }
}
