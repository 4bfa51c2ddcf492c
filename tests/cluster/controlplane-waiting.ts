// Waiting in the tests of the control plane: a question is asked again until its answer is right or time is up, and
// the last answer is shown then, as it usually says what went wrong.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The first answer that is right; fails with the last wrong one after so many milliseconds. */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  right: (answer: T) => boolean,
  milliseconds = 20_000,
): Promise<T> {
  const end = performance.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (right(answer)) return answer;
    if (performance.now() > end) assert.fail(`still not right: ${JSON.stringify(answer, null, 2)}`);
    await sleep(50);
  }
}

/** The processes whose command line names this text; only where the system tells (Linux). */
export function processesNaming(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(text));
}

/** Whether `processesNaming` works here. */
export const canSeeProcesses = existsSync('/proc/self/cmdline');

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
