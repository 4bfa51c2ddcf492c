// `make run` and `make demo` as processes of their own, and what they have on the machine while they run.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** It runs. */
export interface Show {
  pid: number;
  said(): string;
  ended: Promise<number | null>;
  signal(signal: 'SIGINT' | 'SIGKILL'): void;
}

/** The program behind the two targets, as a process of its own. */
export function show(args: string[] = [], env: NodeJS.ProcessEnv = {}): Show {
  const child = spawn(process.execPath, [join(root, 'tools/run/main.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return {
    pid: child.pid ?? 0,
    said: () => text,
    ended: new Promise((resolve) => child.once('exit', (code) => resolve(code))),
    signal: (signal) => void child.kill(signal),
  };
}

/** The folders of control planes that belong to a process. */
export const foldersOf = (pid: number): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`baton-controlplane-${pid}-`));

/** Processes whose command line names one of these folders. */
export const processesIn = (folders: string[]): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return folders.some((folder) => command.includes(folder));
      } catch {
        return false;
      }
    });
