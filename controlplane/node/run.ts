// Runs a program of the machine to its end, in a bounded time, and says what it said when it fails.

import { spawn } from 'node:child_process';

/** What a program is given besides its arguments. */
export interface Surroundings {
  cwd?: string;
  environment?: NodeJS.ProcessEnv;
  input?: string;
  milliseconds?: number;
}

/** Resolves with the standard output of a program that ended well; everything else is an error with its words. */
export function run(command: readonly string[], surroundings: Surroundings = {}): Promise<string> {
  const [program = '', ...args] = command;
  const { cwd, environment, input = '', milliseconds = 30_000 } = surroundings;
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin`, LC_ALL: 'C', ...environment };
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, timeout: milliseconds, killSignal: 'SIGKILL' });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-4000);
    });
    child.once('error', reject).once('close', (code, signal) => {
      if (code === 0) return resolve(output);
      reject(new Error(`${command.join(' ')} ended with ${signal ?? code}: ${errors.trim()}`));
    });
    child.stdin.on('error', () => {}).end(input);
  });
}
