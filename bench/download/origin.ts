// A server of large files that costs as little as a server can: one block of memory, sent over and over. It knows ranges,
// and can be held to the rate of a network. `node origin.ts BYTES [BYTES_A_SECOND]` says its port.

import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const [size = 0, rate = Number.POSITIVE_INFINITY] = process.argv.slice(2).map(Number);
const block = randomBytes(1024 * 1024);
let owed = 0;
let since = performance.now();

/** Waits until the rate allows for so many bytes more, over all connections. */
async function allowed(bytes: number): Promise<void> {
  const earned = ((performance.now() - since) / 1_000) * rate;
  if (earned > owed + rate / 50) {
    since = performance.now();
    owed = 0;
  }
  owed += bytes;
  const early = (owed / rate) * 1_000 - (performance.now() - since);
  if (early > 2) await pause(early);
}

async function send(response: ServerResponse, from: number, to: number): Promise<void> {
  let wake = () => {};
  response.on('drain', () => wake()).on('close', () => wake());
  for (let at = from; at < to && !response.destroyed; ) {
    const start = at % block.length;
    const piece = block.subarray(start, Math.min(block.length, start + to - at));
    if (Number.isFinite(rate)) await allowed(piece.length);
    at += piece.length;
    if (!response.write(piece)) await new Promise<void>((resolve) => (wake = resolve));
  }
  response.end();
}

const server = createServer((request, response) => {
  const asked = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const [from, to] = asked ? [Number(asked[1]), Math.min(size, Number(asked[2] || size - 1) + 1)] : [0, size];
  const range = asked && { 'content-range': `bytes ${from}-${to - 1}/${size}` };
  response.writeHead(asked ? 206 : 200, { etag: '"1"', 'content-length': to - from, ...range });
  void send(response, from, to);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number };
  process.stdout.write(`${port}\n`);
});
process.stdin.on('end', () => process.exit()).resume();
