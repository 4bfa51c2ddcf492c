// A program that is being measured, as a process of its own: it says one line of JSON at a time and is asked by lines on
// its standard input, whose end is also its own. Memory is read from outside, the same way for every language.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Memory of a process in MiB: now, and the most it ever was. */
export interface Memory {
  rss: number;
  peak: number;
}

/** A running program. */
export class Measured implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #name: string;

  constructor(program: string, args: string[]) {
    this.#name = [program, ...args].join(' ');
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdin?.on('error', () => {});
    if (!this.#child.stdout) throw new Error(`${this.#name} has no output`);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** The next thing that the program says. */
  async said<T>(within = 300_000): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${this.#name} said nothing for ${within} ms`)), within);
    });
    const { value, done } = await Promise.race([this.#lines.next(), late]).finally(() => clearTimeout(timer));
    if (done) throw new Error(`${this.#name} ended early`);
    return JSON.parse(value) as T;
  }

  /** Asks and gives the answer. */
  ask<T>(line: string): Promise<T> {
    this.#child.stdin?.write(`${line}\n`);
    return this.said<T>();
  }

  memory(): Memory {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024;
    return { rss: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
  }
}
