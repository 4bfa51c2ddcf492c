// A program that is measured: started with the account of its side, watched from outside, ended in order. Its number lies
// where the control plane's watcher finds it, so that it ends with the bench, however that ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutSettings } from '../../tools/index.ts';

/** How it is started. */
export interface Command {
  program: string;
  args: readonly string[];
}

export interface Program {
  pid: number;
  /** When it was started, in milliseconds since the epoch. */
  began: number;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
}

/** Starts it; what it logs goes into the folder of the control plane. */
export function start({ program, args }: Command, folder: string, name: string): Program {
  const log = openSync(join(folder, 'logs', `${name}.log`), 'a');
  const began = Date.now();
  const env = { ...withoutSettings(process.env), NODE_ENV: 'production' };
  const child = spawn(program, args, { stdio: ['ignore', log, log], env });
  closeSync(log);
  const ended = endOf(child, program);
  const { pid = 0 } = child;
  writeFileSync(join(folder, 'pids', name), `${pid}\n`);
  return {
    pid,
    began,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const endOf = (child: ChildProcess, program: string): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`${program} could not be started`, { cause: error })));
    child.once('exit', () => resolve());
  });
