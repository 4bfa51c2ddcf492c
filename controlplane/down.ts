// `make cluster-down`: stops the control plane of `make cluster-up` and waits until nothing of it is left.

import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { wordsOf } from '../src/base/index.ts';
import { findKept, keeper, type Kept, keptLock, kubeconfigIn } from './kept.ts';
import { runs } from './processes.ts';
import { withLock } from './versions/lock.ts';

const patience = 20_000;

/** Asks first; an owner that does not listen is killed, and its watcher does the rest. */
async function end({ folder, owner }: Kept): Promise<void> {
  process.kill(owner, 'SIGTERM');
  const began = performance.now();
  let forced = false;
  while (runs(owner, keeper) || existsSync(folder)) {
    const waited = performance.now() - began;
    if (waited > 2 * patience) throw new Error(`process ${owner} and ${folder} are still there`);
    if (waited > patience && !forced && runs(owner, keeper)) {
      process.kill(owner, 'SIGKILL');
      forced = true;
    }
    await sleep(50);
  }
}

/** How many were running: one, or none. */
async function endAll(): Promise<number> {
  let count = 0;
  for (let kept = findKept(); kept; kept = findKept(), count++) await end(kept);
  return count;
}

const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  const count = await withLock(keptLock(), () => say('waiting for a start or a stop that is under way'), endAll);
  rmSync(kubeconfigIn(process.argv[2]), { force: true });
  say(count > 0 ? 'The control plane is stopped.' : 'No control plane was running: nothing to stop.');
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exitCode = 1;
}
