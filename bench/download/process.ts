// A process that is measured from its start to its end: by the clock, and its memory and processor time as the kernel
// counts them, looked at every few milliseconds.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** What a run cost: seconds, seconds of processor time, MiB at the most. */
export interface Cost {
  elapsed: number;
  cpu: number;
  peak: number;
}

/** Runs a program to its end, which must be a good one. */
export async function measured(program: string, args: readonly string[]): Promise<Cost> {
  const began = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const cost = { cpu: 0, peak: 0 };
  const timer = setInterval(() => look(child, cost), 10);
  const [code] = (await once(child, 'exit')) as [number | null];
  const elapsed = (performance.now() - began) / 1_000;
  clearInterval(timer);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${said}`);
  return { elapsed, ...cost };
}

const ticks = 100;

function look({ pid }: ChildProcess, cost: Omit<Cost, 'elapsed'>): void {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    cost.cpu = Math.max(cost.cpu, (Number(fields[11]) + Number(fields[12])) / ticks || 0);
    cost.peak = Math.max(cost.peak, Number(peak ?? 0) / 1_024);
  } catch {
    // It has just ended.
  }
}
