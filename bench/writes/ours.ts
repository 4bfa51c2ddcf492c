// Our side of the writes bench: server-side applies through the engine's own client. Reads one run a line as JSON from
// standard input, and answers each with a line of JSON: the time it took and the CPU it cost.

import { createInterface } from 'node:readline';
import { systemClock } from '../../src/base/index.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
import { Deployment, manager } from '../../src/objects/index.ts';
import type { Run } from './run.ts';

const client = new Client({ cluster: loadKubeconfig(process.argv[2] ?? ''), clock: systemClock });

for await (const line of createInterface({ input: process.stdin })) {
  const run = JSON.parse(line) as Run;
  const began = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: run.workers }, (_, worker) => work(run, worker)));
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${JSON.stringify({ ms: performance.now() - began, cpu: (user + system) / 1_000 })}\n`);
}
await client.close();

/** The objects are shared out among the workers, so that no two of them write the same one. */
async function work(run: Run, worker: number): Promise<void> {
  for (let index = worker; index < run.writes; index += run.workers)
    await client.apply(Deployment, objectFor(run, index), { manager: manager.children });
}

/** Copies no more of the template than differs. */
function objectFor({ template, objects, label }: Run, index: number): Deployment {
  const name = `${template.metadata.name}-${index % objects}`;
  const annotations = { 'bench.baton.dev/write': `${label}-${index}` };
  return { ...template, metadata: { ...template.metadata, name, annotations } };
}
