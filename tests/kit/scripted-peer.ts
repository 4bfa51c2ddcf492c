// The other end of a connection, which does exactly what a test tells it, byte by byte. It knows just
// enough HTTP to see where a request ends; what an API server means is tested on the real one.

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, Server as TlsServer, type TlsOptions } from 'node:tls';
export { makeAuthority } from '../../controlplane/index.ts';
import { type Clock, systemClock } from '../../src/base/index.ts';

/** A request as it came. */
export interface Heard {
  method: string;
  path: string;
  headers: [string, string][];
  body: string;
}

/** What to do with a request. */
export type Reply = (socket: Socket, heard: Heard) => void;

/** A peer that answers request after request by its script; the last reply repeats. */
export class ScriptedPeer {
  readonly heard: Heard[] = [];
  readonly sockets = new Set<Socket>();
  readonly connections: Socket[] = [];
  readonly #server: Server;
  readonly #script: Reply[];

  constructor(script: Reply[], tls?: TlsOptions) {
    this.#script = script;
    this.#server = tls ? createTlsServer(tls, this.#accept) : createServer(this.#accept);
  }

  static async start(script: Reply[], tls?: TlsOptions): Promise<ScriptedPeer> {
    const peer = new ScriptedPeer(script, tls);
    peer.#server.listen(0, '127.0.0.1');
    await once(peer.#server, 'listening');
    return peer;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** Shows another certificate to whoever connects from now on. */
  rotate(certificate: { cert: string; key: string }): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(certificate);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  readonly #accept = (socket: Socket): void => {
    this.sockets.add(socket);
    this.connections.push(socket);
    let text = '';
    socket.setEncoding('latin1');
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('data', (piece: string) => {
      text += piece;
      for (let next = cut(text); next; next = cut(text)) {
        text = next.rest;
        this.#answer(socket, next.heard);
      }
    });
  };

  #answer(socket: Socket, heard: Heard): void {
    const reply = this.#script[Math.min(this.heard.length, this.#script.length - 1)];
    this.heard.push(heard);
    reply?.(socket, heard);
  }
}

function cut(text: string): { heard: Heard; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const length = Number(headers.find(([name]) => name === 'content-length')?.[1] ?? 0);
  if (text.length < end + 4 + length) return undefined;
  const [method = '', path = ''] = first.split(' ');
  const body = Buffer.from(text.slice(end + 4, end + 4 + length), 'latin1').toString();
  return { heard: { method, path, headers, body }, rest: text.slice(end + 4 + length) };
}

/** A whole answer in one piece. */
export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (socket) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const extra = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = Buffer.byteLength(text);
    socket.write(`HTTP/1.1 ${status} Said\r\n${extra.join('')}content-length: ${length}\r\n\r\n${text}`);
  };

/** The head of an answer in chunks, and one chunk. */
export const streamHead = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
export const chunk = (bytes: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);
export const lastChunk = '0\r\n\r\n';

/** Says nothing, ever. */
export const silence: Reply = () => {};
/** Ends the connection with a reset. */
export const reset: Reply = (socket) => socket.resetAndDestroy();

/** A kubeconfig for a peer, as text. */
export const kubeconfigFor = (
  server: string,
  user: Record<string, unknown> = { token: 'sesame' },
  cluster = {},
): string =>
  JSON.stringify({
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: [{ name: 'u', user }],
  });

/** The machine's clock, which can be set forward. */
export class MovableClock implements Clock {
  ahead = 0;
  now = (): number => systemClock.now() + this.ahead;
  monotonic = (): number => systemClock.monotonic() + this.ahead;
  after = (ms: number, run: () => void): (() => void) => systemClock.after(ms, run);
}

/** Waits until something holds, at most `ms`. */
export async function eventually(holds: () => boolean, ms = 5000): Promise<void> {
  const end = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`did not come true within ${ms} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
