// The logs of pods on real nodes, for runs that are kept. A kubelet removes them with their pod, so each gets a second name
// in the folder of logs as soon as it is seen; a pod needs longer to start and to go than one look takes.

import { globSync, linkSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const every = 200;

/** Keeps every log that appears below this folder of nodes; the result ends it. */
export function keepPodLogs(nodes: string, into: string): () => Promise<void> {
  const known = new Set<string>();
  mkdirSync(into, { recursive: true });
  const look = () => {
    for (const file of globSync(join(nodes, '*', 'log', 'pods', '*', '*', '*.log'))) {
      if (known.has(file)) continue;
      known.add(file);
      secondName(file, join(into, relative(nodes, file).replaceAll('/', '-')));
    }
  };
  const looking = setInterval(look, every);
  looking.unref();
  return async () => clearInterval(looking);
}

/** A log that went in this moment has none. */
function secondName(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch {}
}
