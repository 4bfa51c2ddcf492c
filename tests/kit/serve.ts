// Our model server as a process in the hands of a test, and as the test's clients see it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServeOrder, serveArguments } from '../../src/api/index.ts';

const main = fileURLToPath(new URL('../../src/programs/serve/main.ts', import.meta.url));

/** How long a server may take to start or to end. */
const patience = 60_000;

/** A folder that goes with its test. */
export function modelFolder(files: Readonly<Record<string, Uint8Array>> = {}): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'baton-serve-'));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(path, name), bytes);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A process that ended, or was ended after a while. */
export interface Ended {
  code: number | null;
  log: string;
}

export interface RunningServer extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  readonly url: string;
  log(): string;
  signal(name: NodeJS.Signals): void;
  /** The most bytes that it ever had in memory. */
  peakMemory(): number;
  /** Waits for its end. */
  ended(): Promise<Ended>;
  /** The sum of a metric's series whose labels contain `label`. */
  metric(name: string, label?: string): Promise<number>;
}

type Order = Pick<ServeOrder, 'model'> & Partial<ServeOrder>;

/** Starts a server on loopback; it is ready when this returns. */
export async function startServe(order: Order): Promise<RunningServer> {
  const { child, log, ended } = start({ port: 0, host: '127.0.0.1', threads: 1, ...order });
  const port = await Promise.race([portIn(child, log), ended().then(failed)]);
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    pid: child.pid ?? 0,
    url,
    log,
    signal: (name) => void child.kill(name),
    peakMemory: () => Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1_024,
    ended,
    async metric(name, label = '') {
      const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) })).text();
      const lines = text.split('\n').filter((line) => line.startsWith(name) && /^[ {]/.test(line.slice(name.length)));
      return lines
        .filter((line) => line.includes(label))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended();
    },
  };
}

/** Starts a server that should end by itself, and gives its last words. */
export function serveEnds(order: Order): Promise<Ended> {
  return start({ port: 0, host: '127.0.0.1', ...order }).ended();
}

function start(order: Order) {
  const child = spawn(process.execPath, [main, ...serveArguments(order)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const exit = once(child, 'close') as Promise<[number | null]>;
  const log = () => said;
  const ended = async (): Promise<Ended> => {
    const timer = setTimeout(() => child.kill('SIGKILL'), patience);
    const [code] = await exit.finally(() => clearTimeout(timer));
    return { code, log: said };
  };
  return { child, log, ended };
}

const failed = ({ code, log }: Ended): never => {
  throw new Error(`the server ended with ${code} before it was ready:\n${log}`);
};

async function portIn(child: ChildProcess, log: () => string): Promise<number> {
  for (;;) {
    const port = /"message":"ready","port":(\d+)/.exec(log())?.[1];
    if (port !== undefined) return Number(port);
    if (!child.stderr) throw new Error('the server has no log');
    await once(child.stderr, 'data', { signal: AbortSignal.timeout(patience) });
  }
}
