// The load: so many connections, each with one request under way at all times, for so many seconds. A process of its own, and
// as cheap as it can be, since it shares the machine with the server that it measures: `node load.ts '{"port": 8080, ...}'`.

import { connect } from 'node:net';

/** What is asked for. */
export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** The whole request, in base64. */
  request: string;
}

/** What was seen: milliseconds, and CPU microseconds of the load itself. */
export interface Loaded {
  requests: number;
  failures: number;
  elapsed: number;
  p50: number;
  p99: number;
  cpu: number;
}

const load = JSON.parse(process.argv[2] ?? '') as Load;
const request = Buffer.from(load.request, 'base64');
const end = performance.now() + load.seconds * 1_000;
const times: number[] = [];
let failures = 0;

/** Bytes of the answer whose first piece this is, or nothing if it is no good answer. */
function sizeOf(bytes: Buffer): number | undefined {
  const body = bytes.indexOf('\r\n\r\n') + 4;
  const length = /^content-length: (\d+)/im.exec(bytes.toString('latin1', 0, body))?.[1];
  const good = bytes.toString('latin1', 0, 12) === 'HTTP/1.1 200' && body > 3 && length !== undefined;
  return good ? body + Number(length) : undefined;
}

function client(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true });
    let began = 0;
    let missing = 0;
    const ask = () => {
      began = performance.now();
      socket.write(request);
    };
    const answered = () => {
      const now = performance.now();
      times.push(now - began);
      if (now < end) ask();
      else socket.end();
    };
    socket.on('connect', ask);
    socket.on('data', (bytes: Buffer) => {
      const size = missing > 0 ? missing : sizeOf(bytes);
      if (size === undefined) return void socket.destroy(new Error('a bad answer'));
      missing = size - bytes.length;
      if (missing === 0) answered();
    });
    socket.on('error', () => (failures += 1));
    socket.on('close', () => resolve());
  });
}

const before = process.cpuUsage();
const started = performance.now();
await Promise.all(Array.from({ length: load.connections }, client));
const { user, system } = process.cpuUsage(before);
times.sort((a, b) => a - b);
const at = (part: number) => times[Math.floor(times.length * part)] ?? Number.NaN;
const seen: Loaded = {
  requests: times.length,
  failures,
  elapsed: performance.now() - started,
  p50: at(0.5),
  p99: at(0.99),
  cpu: user + system,
};
process.stdout.write(`${JSON.stringify(seen)}\n`);
