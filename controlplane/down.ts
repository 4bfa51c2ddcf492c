// `make cluster-down`: stops the control plane of `make cluster-up` and waits until nothing of it is left.

import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { alive } from './home.ts';
import { findKept, type Kept, kubeconfigIn } from './kept.ts';

const patience = 20_000;

/** Asks first; an owner that does not listen is killed, and its watcher does the rest. */
async function end({ folder, owner }: Kept): Promise<void> {
  process.kill(owner, 'SIGTERM');
  const began = performance.now();
  let forced = false;
  while (alive(owner) || existsSync(folder)) {
    const waited = performance.now() - began;
    if (waited > 2 * patience) throw new Error(`process ${owner} and ${folder} are still there`);
    if (waited > patience && !forced && alive(owner)) {
      process.kill(owner, 'SIGKILL');
      forced = true;
    }
    await sleep(50);
  }
}

const kept = findKept();
if (kept) await end(kept);
rmSync(kubeconfigIn(process.argv[2]), { force: true });
process.stdout.write(kept ? 'The control plane is stopped.\n' : 'No control plane was running: nothing to stop.\n');
