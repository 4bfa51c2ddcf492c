// The limit of the server: reads a file as fast as Node can from one connection, and does nothing with it. `node raw.ts PORT`.

import { connect } from 'node:net';

const port = Number(process.argv[2]);
const buffer = Buffer.alloc(1024 * 1024);
let left = -1;

function got(count: number): boolean {
  if (left < 0) {
    const head = buffer.subarray(0, count).indexOf('\r\n\r\n') + 4;
    left = Number(/content-length: (\d+)/.exec(buffer.toString('latin1', 0, head))?.[1]) + head;
  }
  left -= count;
  if (left === 0) process.exit();
  return true;
}

connect({ port, host: '127.0.0.1', onread: { buffer, callback: got } }).write(
  'GET /file HTTP/1.1\r\nhost: bench\r\n\r\n',
);
