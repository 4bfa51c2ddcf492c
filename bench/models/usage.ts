// What processes have used so far, as the kernel counts it: processor time of a whole control plane and of the program that
// is measured, and the memory of the latter.

import { readFileSync } from 'node:fs';

const ticksInSecond = 100;

/** Seconds of processor time, user and system. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksInSecond;
}

/** MiB: now, and the most it ever was. */
export function memoryOf(pid: number): { rss: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1_024;
  return { rss: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
}

/** Processor time of each of several processes. */
export const cpuOfAll = (pids: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuOf(pid)]));

/** What each has used since. */
export const since = (before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));
