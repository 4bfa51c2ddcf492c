// Buffers that are used again must never be seen by anybody who still reads them: whatever the pieces in which bytes come,
// however slow the reader, what arrives is what was sent.

import { deepEqual, equal } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { systemClock } from '../base/index.ts';
import { fetchBlob } from './blobs.ts';
import { digestOf } from './digest.ts';
import { referenceOf } from './reference.ts';
import { Registry } from './registry.ts';
import type { Sink } from './sink.ts';

/** A server that sends one body in pieces of these sizes, plain or in chunks. */
async function serving(body: Buffer, sizes: readonly number[], chunked: boolean) {
  const send = async (socket: Socket) => {
    const framing = chunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`;
    socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`);
    for (let at = 0, index = 0; at < body.length; index += 1) {
      const piece = body.subarray(at, at + (sizes[index % sizes.length] ?? 1));
      at += piece.length;
      const framed = chunked ? [`${piece.length.toString(16)}\r\n`, piece, '\r\n'] : [piece];
      if (!framed.map((bytes) => socket.write(bytes)).at(-1)) await once(socket, 'drain');
      if (index % 7 === 0) await turn();
    }
    if (chunked) socket.write('0\r\n\r\n');
  };
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => void send(socket).catch(() => {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Hashes what it is given, and takes its time after every so many pieces. */
function slowly(every: number): { sink: Sink; digest: () => string } {
  const hash = createHash('sha256');
  let pieces = 0;
  const put = (piece: Buffer): Promise<void> | undefined => {
    hash.update(piece);
    pieces += 1;
    return pieces % every === 0 ? pause(1) : undefined;
  };
  return { sink: { put }, digest: () => `sha256:${hash.digest('hex')}` };
}

test('what arrives is what was sent, in whatever pieces and however slowly it is read', async () => {
  const body = randomBytes(3_000_000);
  const size = fc.oneof(fc.integer({ min: 1, max: 2_000 }), fc.integer({ min: 30_000, max: 300_000 }));
  const given = fc.record({
    sizes: fc.array(size, { minLength: 3, maxLength: 12 }).map((sizes) => [...sizes, 70_000]),
    chunked: fc.boolean(),
    every: fc.integer({ min: 1, max: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(given, async ({ sizes, chunked, every }) => {
      const { server, host } = await serving(body, sizes, chunked);
      const { sink, digest } = slowly(every);
      const registry = new Registry({ clock: systemClock, random: () => 0, plainHttp: [host] });
      const content = { digest: digestOf(body), size: body.length };
      await fetchBlob(registry, referenceOf(`${host}/a`), content, { sink, signal: AbortSignal.timeout(20_000) });
      equal(digest(), content.digest);
      await registry.close();
      server.close();
      await once(server, 'close');
    }),
    { numRuns: 12 },
  );
});

test('a head that comes line by line is whole', async () => {
  const lines = [
    'HTTP/1.1 200 OK',
    'x-a: 1',
    'x-b: 22',
    'x-c: 333',
    'x-d: 4444',
    'x-e: 55555',
    'content-length: 0',
    '',
  ];
  const server = createServer({ noDelay: true }, (socket) => {
    const send = async () => {
      for (const line of lines) {
        socket.write(`${line}\r\n`);
        await pause(3);
      }
    };
    socket.on('error', () => {}).once('data', () => void send());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const registry = new Registry({ clock: systemClock, random: () => 0, plainHttp: [host] });
  const ask = { method: 'GET', place: { host, repository: 'a' }, to: 'x', actions: 'pull' } as const;
  const { headers } = await registry.ask({ ...ask, signal: AbortSignal.timeout(5_000) });
  const said = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  deepEqual(said, lines.slice(1, -1));
  await registry.close();
  server.close();
  await once(server, 'close');
});
