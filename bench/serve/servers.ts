// The two servers that are compared, as processes: ours as it is shipped, in one bundled file; and the Python one, with a worker
// for each core. Their memory and CPU time are read from outside, over all their processes.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { serveArguments } from '../../src/api/index.ts';
import { pythonWith } from '../../tests/kit/python.ts';

const root = join(import.meta.dirname, '..', '..');

/** A server that is measured. */
export interface Measured extends AsyncDisposable {
  port: number;
  /** MiB and CPU microseconds of all its processes so far. */
  usage(): { rss: number; cpu: number };
}

export interface Serving {
  model: string;
  /** Of onnxruntime, in each process. */
  threads: number;
}

/** Ours. */
export async function startOurs({ model, threads }: Serving): Promise<Measured> {
  const bundle = join(root, 'build', 'bench', 'serve.mjs');
  await build({
    entryPoints: [join(root, 'src', 'programs', 'serve', 'main.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['onnxruntime-node'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const port = await freePort();
  const args = serveArguments({ model, port, host: '127.0.0.1', threads });
  return measured(spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'ignore', 'inherit'] }), port);
}

/** The Python one. */
export async function startPython(
  { model, threads }: Serving,
  workers: number,
  say: (line: string) => void,
): Promise<Measured> {
  const folder = join(root, 'bench', 'peers', 'serve-python');
  const { program, environment } = await pythonWith(join(folder, 'requirements.txt'), say);
  const port = await freePort();
  const loops = ['--loop', 'uvloop', '--http', 'httptools', '--workers', String(workers)];
  const args = ['-m', 'uvicorn', 'app:app', '--host', '127.0.0.1', '--port', String(port), ...loops];
  const env = { ...environment, MODEL: model, THREADS: String(threads) };
  const quiet = ['--no-access-log', '--log-level', 'warning'];
  return measured(
    spawn(program, [...args, ...quiet], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] }),
    port,
  );
}

async function measured(child: ChildProcess, port: number): Promise<Measured> {
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await Promise.race([ended, pause(10_000, undefined, { ref: false })]);
    for (const pid of family(child.pid ?? 0)) process.kill(pid, 'SIGKILL');
    await ended;
  };
  try {
    await ready(port);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, usage: () => usageOf(family(child.pid ?? 0)), [Symbol.asyncDispose]: stop };
}

async function ready(port: number): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(`http://127.0.0.1:${port}/v2/health/ready`).catch(() => undefined);
    if (answer?.ok) return;
    await pause(100);
  }
  throw new Error(`no server was ready on port ${port} within 30 s`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** A process and all below it that still live. */
function family(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    return [pid, ...children.flatMap((child) => family(Number(child)))];
  } catch {
    return [];
  }
}

function usageOf(pids: readonly number[]): { rss: number; cpu: number } {
  let [rss, ticks] = [0, 0];
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
    rss += Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  }
  return { rss, cpu: ticks * 10_000 };
}
