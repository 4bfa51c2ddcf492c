// Our side of the cache bench: a whole operator on the measured kinds whose controller wants everything as it is, so it
// reads all and writes nothing. Says one line of JSON when every object has had its first pass.

import { createInterface } from 'node:readline';
import { makeLog, systemClock } from '../../src/base/index.ts';
import { defineController, keep, loadKubeconfig, startOperator } from '../../src/kube/index.ts';
import { Trio } from '../../tests/kit/trio/schema.ts';
import { childKinds } from '../objects.ts';
import { type Turns, watchTurns } from './turns.ts';

const [kubeconfig = '', parents = ''] = process.argv.slice(2);
const expected = Number(parents);
let turns: Turns | undefined;

let objects = 0;
let passes = 0;
let synced: { ms: number; cpu: number } | undefined;

const cpu = () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000;
const say = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Counts what it sees; the first pass comes when every kind is whole. */
const idle = defineController<Trio, NonNullable<Trio['status']>>({
  kind: Trio,
  owns: childKinds,
  decide({ object, seen }) {
    synced ??= { ms: performance.now(), cpu: cpu() };
    const children = seen.all(...childKinds);
    objects += 1 + children.length;
    if (++passes === expected) setTimeout(finished, 100);
    return { want: children.map(keep), status: object.status ?? {} };
  },
});

function finished(): void {
  turns?.stop();
  say({ objects, ...synced, passed: performance.now(), stall: turns?.longest, work: turns?.work });
}

await startOperator({
  controllers: [{ definition: idle }],
  access: () => loadKubeconfig(kubeconfig),
  namespaces: [],
  workers: 10,
  clock: systemClock,
  random: Math.random,
  log: makeLog({ level: 'warn', format: 'text', now: Date.now, write: (line) => void process.stderr.write(line) }),
});

// The turn in which everything is set up ends here; what is watched begins with the lists.
setImmediate(() => (turns = watchTurns()));

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'collect') globalThis.gc?.();
  say({ cpu: cpu() });
}
process.exit(0);
