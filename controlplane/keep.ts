// The process that owns the control plane of `make cluster-up`. It tells its parent on standard output when all is
// ready, then waits for SIGTERM. It holds the lock while it starts, its parent does not: a parent that is killed in the
// meantime must not let a second one begin.

import { wordsOf } from '../src/base/index.ts';
import { claim, findKept, keptLock } from './kept.ts';
import { startRealCluster } from './node/index.ts';
import { startControlPlane } from './start.ts';
import { withLock } from './versions/lock.ts';

/** Resolves when the parent can read it; a control plane that nobody waits for any more is not kept. */
const tell = (word: string) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.once('error', reject);
    process.stdout.write(`${word}\n`, (error) => (error ? reject(error) : resolve()));
  });

async function keep(): Promise<void> {
  if (findKept()) return tell('already running');
  const plane = process.argv[2] === 'real' ? await startRealCluster() : await startControlPlane({ nodes: 1 });
  claim(plane.folder);
  const stay = setInterval(() => {}, 2 ** 30);
  const leave = () => plane.stop().finally(() => clearInterval(stay));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void leave());
  try {
    await tell('ready');
  } catch (error) {
    await leave();
    throw error;
  }
}

try {
  await withLock(keptLock(), () => {}, keep);
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exitCode = 1;
}
