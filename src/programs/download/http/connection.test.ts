// One connection with a reader that is slower than the server, by plain TCP and by TLS: every byte arrives, in order, once.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { createSecureContext } from 'node:tls';
import { startOrigin } from '../../../../tests/kit/origin.ts';
import { makeAuthority, ScriptedPeer } from '../../../../tests/kit/scripted-peer.ts';
import { egressRules, systemClock } from '../../../base/index.ts';
import { Connection, type Sink } from './connection.ts';
import { framingOf } from './head.ts';

/** Gives room in odd sizes, and now and then none for a while. */
class SlowSink implements Sink {
  readonly pieces: Buffer[] = [];
  readonly #sizes: number[];
  #room = Buffer.alloc(0);
  #turn = 0;
  #closed = false;
  pauses = 0;

  constructor(sizes: number[]) {
    this.#sizes = sizes;
  }

  room(): Uint8Array | undefined {
    if (this.#closed) return undefined;
    if (this.#room.length === 0) this.#room = Buffer.alloc(this.#sizes[this.#turn++ % this.#sizes.length] ?? 1);
    return this.#room;
  }

  filled(count: number): void {
    this.pieces.push(Buffer.from(this.#room.subarray(0, count)));
    this.#room = this.#room.subarray(count);
    if (this.#room.length > 0 || this.#turn % 3 !== 0) return;
    this.#closed = true;
    this.pauses++;
  }

  whenRoom(resume: () => void): void {
    setTimeout(() => {
      this.#closed = false;
      resume();
    }, 2);
  }
}

const authority = makeAuthority(Date.now());
const { certificate: cert, key } = authority.issue({ name: 'server', addresses: ['model.example'] });
const content = randomBytes(3_000_000);
const options = {
  rules: egressRules({ allow: ['127.0.0.1'] }),
  resolve: () => Promise.resolve(['127.0.0.1']),
  clock: systemClock,
  within: 5_000,
  stall: 5_000,
  secureContext: createSecureContext({ ca: authority.certificate }),
};
const question = 'GET / HTTP/1.1\r\nhost: model.example\r\n\r\n';

describe('a slow reader gets every byte once', { timeout: 60_000 }, () => {
  for (const [name, tls] of [
    ['TCP', undefined],
    ['TLS', { cert, key }],
  ] as const)
    for (const framing of ['length', 'chunks'] as const)
      test(`by ${name}, told by ${framing}, twice over one connection`, async () => {
        await using origin = await startOrigin(
          (_request, response) => {
            if (framing === 'length') response.setHeader('content-length', content.length);
            for (let at = 0; at < content.length; at += 70_001) response.write(content.subarray(at, at + 70_001));
            response.end();
          },
          tls ? { tls } : {},
        );
        const connection = await Connection.open(
          { hostname: 'model.example', port: origin.port, secure: tls !== undefined },
          options,
        );
        for (let round = 0; round < 2; round++) {
          const sink = new SlowSink([100_000, 13, 70_000, 5_000, 262_144]);
          const head = await connection.ask(question);
          await connection.read(framingOf(head, 'host'), sink);
          ok(sink.pauses > 5, 'there were pauses');
          ok(Buffer.concat(sink.pieces).equals(content));
          equal(connection.idle, true);
        }
        equal(origin.connections(), 1);
        connection.close();
      });
});

const open = (port: number, stall = 5_000) =>
  Connection.open({ hostname: 'model.example', port, secure: false }, { ...options, stall });

test('a head may come in any pieces, behind others that only announce it', { timeout: 60_000 }, async () => {
  const text =
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello';
  await using peer = await ScriptedPeer.start([
    async (socket) => {
      socket.setNoDelay(true);
      for (const letter of text.match(/[\s\S]{1,7}/g) ?? []) {
        socket.write(letter);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  ]);
  const connection = await open(peer.port);
  const head = await connection.ask(question);
  deepEqual([head.status, head.headers.get('content-length')], [200, '5']);
  const sink = new SlowSink([2, 1]);
  await connection.read(framingOf(head, 'host'), sink);
  equal(Buffer.concat(sink.pieces).toString(), 'hello');
  connection.close();
});

test('a server that falls silent is not waited for', { timeout: 60_000 }, async () => {
  await using silent = await ScriptedPeer.start([() => {}]);
  await rejects((await open(silent.port, 100)).ask(question), /nothing came for 0\.1 s/);
  await using half = await ScriptedPeer.start([
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
  ]);
  const connection = await open(half.port, 100);
  const head = await connection.ask(question);
  await rejects(connection.read(framingOf(head, 'host'), new SlowSink([100])), /nothing came for 0\.1 s/);
  equal(connection.idle, false);
});

test('a sink that fails ends the connection with its own error', { timeout: 60_000 }, async () => {
  await using origin = await startOrigin((_request, response) => void response.end(content));
  const connection = await open(origin.port);
  const head = await connection.ask(question);
  const full = {
    room: () => {
      throw new Error('the disk is full');
    },
    filled: () => {},
    whenRoom: () => {},
  };
  await rejects(connection.read(framingOf(head, 'host'), full), (error: Error) => {
    match(error.message, /the disk is full/);
    return true;
  });
});
