// Where callers come in. TCP connections are accepted here and then handed to the TLS server, because only the owner
// of a connection can reset it, refuse it, or leave it hanging before the handshake.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { Credentials } from '../certificates.ts';
import type { Manner } from './plan.ts';

/** A request that came in; `reset` breaks its connection. */
export interface Visit {
  request: IncomingMessage;
  response: ServerResponse;
  reset: () => void;
}

export interface Door {
  readonly url: string;
  onVisit(receive: (visit: Visit) => void): void;
  become(manner: Manner): void;
  close(): Promise<void>;
}

/** Opens a door on a free port of loopback. */
export async function openDoor({ certificate: cert, key }: Credentials): Promise<Door> {
  const secure = createServer({ cert, key, requestTimeout: 0, keepAliveTimeout: 300_000 });
  const sockets = new Map<number | undefined, Socket>();
  let manner: Manner = 'accept';
  const door = createTcpServer((socket) => {
    const { remotePort } = socket;
    sockets.set(remotePort, socket);
    socket.setNoDelay(true).on('error', () => {});
    socket.once('close', () => sockets.delete(remotePort));
    if (manner === 'refuse') socket.resetAndDestroy();
    if (manner === 'accept') secure.emit('connection', socket);
  });
  await new Promise<void>((ready, failed) => door.once('error', failed).listen(0, '127.0.0.1', ready));
  return {
    url: `https://127.0.0.1:${(door.address() as AddressInfo).port}`,
    onVisit: (receive) =>
      void secure.on('request', (request, response) => {
        response.on('error', () => {});
        receive({ request, response, reset: () => void sockets.get(request.socket.remotePort)?.resetAndDestroy() });
      }),
    become(next) {
      manner = next;
      if (next === 'refuse') for (const socket of sockets.values()) socket.resetAndDestroy();
    },
    async close() {
      const closed = new Promise((done) => door.close(done));
      for (const socket of sockets.values()) socket.destroy();
      await closed;
    },
  };
}
