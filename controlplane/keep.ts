// The process that owns the control plane of `make cluster-up`. It tells its parent on standard output when all is
// ready, then waits for SIGTERM.

import { claim } from './kept.ts';
import { startControlPlane } from './start.ts';

const plane = await startControlPlane({ nodes: 1 });
claim(plane.folder);
const stay = setInterval(() => {}, 2 ** 30);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => void plane.stop().finally(() => clearInterval(stay)));
}
process.stdout.write('ready\n');
