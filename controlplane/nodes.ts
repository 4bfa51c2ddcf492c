// Simulated nodes on a running control plane: kwok with our stages, the server of pod logs, and the Node objects.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ask, must } from './api.ts';
import { launch, type Parts } from './plane.ts';
import { serveLogs } from './podlogs.ts';
import { nodeObject, nodeStage } from './stages/nodes.ts';
import { podStages } from './stages/pods.ts';
import { until } from './until.ts';

/** Starts kwok, adds so many nodes and resolves when all of them are ready. */
export async function startNodes(parts: Parts, count: number): Promise<void> {
  const { ask, home, identities } = parts;
  const logs = await serveLogs(identities, ask);
  parts.closers.push(() => logs.close());
  const documents = [...podStages(), nodeStage(logs.port)].map((stage) => JSON.stringify(stage));
  writeFileSync(join(home.folder, 'kwok.yaml'), documents.join('\n---\n'));
  const kwok = launch('kwok', parts);
  for (let number = 1; number <= count; number++) {
    await must(ask, { method: 'POST', path: '/api/v1/nodes', body: nodeObject(`node-${number}`) });
  }
  await until(async () => (await readyNodes(ask)) >= count, {
    what: `${count} nodes are ready and may take pods`,
    milliseconds: 60_000,
    folder: home.folder,
    components: [kwok],
  });
}

interface NodeList {
  items: {
    spec: { taints?: unknown[] };
    status: { conditions?: { type: string; status: string }[] };
  }[];
}

/** How many nodes may take pods. A new one carries a taint until the controller-manager has seen it ready. */
export async function readyNodes(ask: Ask): Promise<number> {
  const { items } = (await must(ask, { path: '/api/v1/nodes' })) as NodeList;
  const ready = items.filter(
    ({ spec, status }) =>
      !spec.taints?.length && status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
  return ready.length;
}
