// One program of the control plane as a child process: its log is a file, its number is written down before it
// begins (so the watcher finds it whatever happens to us), and an end that nobody asked for is noticed.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramName } from './versions/modules.ts';

/** The name of a program of the control plane that keeps running. Beside it there may be others, such as those of a real node. */
export type ComponentName = Exclude<ProgramName, 'kubectl'>;

/** How to start a component. */
export interface Launch {
  name: string;
  program: string;
  args: string[];
  folder: string;
  /** More than this process's own environment. */
  environment?: NodeJS.ProcessEnv;
}

/** A running component. */
export interface Component {
  name: string;
  pid: number;
  /** How the process ended, once it has. */
  ending(): string | undefined;
  ended: Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it is gone; this process waits for that. */
  gone(): Promise<void>;
  /** Ends it at once and resolves when it is gone. */
  kill(): Promise<void>;
}

/** A component ended, or did not become ready; the message holds the last lines of its log. */
export class ComponentFailure extends Error {
  readonly component: string;
  readonly lastLines: string;
  constructor(component: string, what: string, lastLines: string) {
    super(`${component} ${what}; the last lines of its log:\n${lastLines}`);
    this.name = 'ComponentFailure';
    this.component = component;
    this.lastLines = lastLines;
  }
}

/** Writes the number of the process first: if the folder is gone by then, the program never begins. */
const prologue = 'echo $$ >"$0" && exec "$@"';

/** Starts the program in a session of its own. */
export function startComponent({ name, program, args, folder, environment }: Launch): Component {
  const pidFile = join(folder, 'pids', name);
  const log = openSync(logPath(folder, name), 'a');
  const child = spawn('sh', ['-c', prologue, pidFile, program, ...args], {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: folder,
    env: { ...process.env, ...environment },
  });
  closeSync(log);
  child.unref();
  const ended = onceEnded(child, () => rmSync(pidFile, { force: true }));
  const gone = () => {
    child.ref();
    return ended.promise;
  };
  return {
    name,
    pid: child.pid ?? 0,
    ending: () => ended.how,
    ended: ended.promise,
    signal: (signal) => void child.kill(signal),
    gone,
    async kill() {
      child.kill('SIGKILL');
      await gone();
    },
  };
}

/** The last lines of a component's log. */
export function logTail(folder: string, name: string, lines = 20): string {
  try {
    return readFileSync(logPath(folder, name), 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}

const logPath = (folder: string, name: string) => join(folder, 'logs', `${name}.log`);

function onceEnded(child: ChildProcess, after: () => void): { how: string | undefined; promise: Promise<void> } {
  const ended: { how: string | undefined; promise: Promise<void> } = { how: undefined, promise: Promise.resolve() };
  ended.promise = new Promise((resolve) => {
    const finish = (how: string) => {
      ended.how ??= how;
      after();
      resolve();
    };
    child.once('error', (error) => finish(`could not be started (${error.message})`));
    child.once('exit', (code, signal) => finish(signal ? `was ended by ${signal}` : `ended with code ${code}`));
  });
  return ended;
}
