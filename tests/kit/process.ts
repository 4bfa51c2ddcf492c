// An operator process in the hands of a test: started, paused, killed, asked. Its number lies where the control plane's
// watcher finds it, so that it ends with the test run, however that ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OperatorProcess } from '../../controlplane/faults/index.ts';
import type { MainOptions } from './main.ts';
import { eventually } from './eventually.ts';

const fileOf = ({ build }: Pick<MainOptions, 'build'>): string =>
  fileURLToPath(new URL(build === 'another' ? 'otherbuild.ts' : 'main.ts', import.meta.url));

export interface RunningOperator extends OperatorProcess {
  readonly identity: string;
  readonly pid: number;
  alive(): boolean;
  /** All that it logged. */
  log(): string;
  /** The answer of a probe: status and text. */
  probe(path: string): Promise<{ status: number; text: string }>;
  /** The value of a metric, summed over its labels that contain `label`. */
  metric(name: string, label?: string): Promise<number>;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
}

let started = 0;

/** Starts an operator; it is up when this returns, though perhaps not ready. */
export async function startProcess(folder: string, options: Omit<MainOptions, 'identity'>): Promise<RunningOperator> {
  const identity = `operator-${++started}`;
  const logFile = join(folder, 'logs', `${identity}.log`);
  const pidFile = join(folder, 'pids', identity);
  const child = spawn(process.execPath, [fileOf(options), JSON.stringify({ ...options, identity })], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Operators are started by the hundred: the second one finds what the first one compiled.
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
  });
  writeFileSync(pidFile, `${child.pid}\n`);
  child.stderr.pipe(createWriteStream(logFile));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void ended.then(() => rmSync(pidFile, { force: true }));
  const port = await portOf(child, () => readFileSync(logFile, 'utf8')).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const probe = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5_000) });
    return { status: answer.status, text: await answer.text() };
  };
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  return {
    identity,
    pid: child.pid ?? 0,
    alive: () => child.exitCode === null && child.signalCode === null,
    log: () => readFileSync(logFile, 'utf8'),
    probe,
    metric: async (name, label = '') => sum((await probe('/metrics')).text, name, label),
    kill: () => end('SIGKILL'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    stop: () => end('SIGTERM'),
  };
}

async function portOf(child: ChildProcess, log: () => string): Promise<number> {
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const end = () => child.exitCode ?? child.signalCode;
  await eventually(() => said.includes('\n') || end() !== null, {
    within: 60_000,
    every: 10,
    what: 'the operator starts',
  });
  if (end() !== null) throw new Error(`the operator ended with ${end()}:\n${log()}`);
  return Number(said);
}

const sum = (text: string, name: string, label: string): number =>
  text
    .split('\n')
    .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(label))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
