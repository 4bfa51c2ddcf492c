// What can be told about a process by its number. A number alone proves little: it may by now belong to a stranger.

import { existsSync, readFileSync } from 'node:fs';

/** Whether a process with this number exists. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the process with this number was started with this argument; without /proc, whether there is one at all. */
export function runs(pid: number, argument: string): boolean {
  if (!existsSync('/proc/self')) return alive(pid);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument);
  } catch {
    return false;
  }
}
