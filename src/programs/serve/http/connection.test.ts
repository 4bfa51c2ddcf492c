// Memory that a request took while it is answered is given back with the answer, even when its client has left before.

import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { json } from './answer.ts';
import { Connection, type Exchange } from './connection.ts';

describe('a client that leaves', () => {
  test('gives back its memory when nobody works with it any more', async (t) => {
    let taken = 0;
    const reserve = (bytes: number) => {
      taken += bytes;
      return true;
    };
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = (await once(server, 'connection')) as [Socket];
    const exchange = await new Promise<Exchange>((handle) => {
      const limits = { head: 1_000, body: 1_000, reserve };
      const around = { limits, now: () => 0, draining: () => false, handle, refused: () => {} };
      const connection = new Connection(socket, around);
      t.after(() => connection.destroy());
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    });
    exchange.reserve(70);
    client.resetAndDestroy();
    await new Promise((closed) => socket.once('close', closed));
    equal(taken, 70);
    exchange.reserve(30);
    exchange.answer(json(200, {}));
    equal(taken, 0);
  });
});
