// A way to a server that breaks: connections are reset as soon as so many bytes have gone one way or the other.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Numbers of bytes, over all connections, at each of which the connection that carries them is reset. */
export interface Cuts {
  up?: number[];
  down?: number[];
}

export interface Cutter extends AsyncDisposable {
  host: string;
  /** Bytes that went either way so far. */
  up: number;
  down: number;
  /** Cuts that have not happened yet. */
  left: () => number;
}

/** Listens before a server on this machine. */
export async function startCutter(port: number, { up = [], down = [] }: Cuts): Promise<Cutter> {
  const cuts = { up: [...up], down: [...down] };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1' });
    const pair = [near, far];
    for (const socket of pair) sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    const carry = (way: 'up' | 'down', from: Socket, to: Socket) => {
      from.on('data', (piece: Buffer) => {
        const room = (cuts[way][0] ?? Number.POSITIVE_INFINITY) - it[way];
        it[way] += Math.min(room, piece.length);
        if (piece.length <= room)
          return void (to.write(piece) || (from.pause(), to.once('drain', () => from.resume())));
        cuts[way].shift();
        to.write(piece.subarray(0, room), () => pair.forEach((socket) => socket.resetAndDestroy()));
      });
      from.on('end', () => to.end());
      from.on('close', () => to.destroy());
    };
    carry('up', near, far);
    carry('down', far, near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const left = () => cuts.up.length + cuts.down.length;
  const it: Cutter = { host, up: 0, down: 0, left, [Symbol.asyncDispose]: stop };
  return it;
}
