// A thousand nodes of which something changes all the time that says nothing about devices: DeviceTemplates are not looked at,
// and nothing is written. One label that says something: those that it concerns are looked at, once.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { moduleLabels, Node } from '../../src/objects/index.ts';
import { devicetemplate } from '../kit/devicelife.ts';
import { eventually } from '../kit/eventually.ts';
import { ask, atRest, onLane, writesSince } from '../kit/lane.ts';
import { kmmManifest } from '../kit/kmm/crd.ts';
import { must, product, type Rig, startRig } from '../kit/rig.ts';

const count = 1_000;
const templates = 10;
const span = 30_000;

let rig: Rig;
before(async () => {
  rig = await startRig({ nodes: 1 }, product);
  await must(rig.plane, ['apply', '-f', '-'], kmmManifest);
  const names = Array.from({ length: count }, (_, index) => index);
  await Promise.all(Array.from({ length: 16 }, () => make(names)));
});
after(() => rig.stop());

/** Makes nodes until none is left to make: a tenth of them is meant by each template, and all of them by the last. */
async function make(left: number[]): Promise<void> {
  for (let index = left.pop(); index !== undefined; index = left.pop()) {
    const labels = { 'example.com/all': 'yes', [`example.com/part-${index % templates}`]: 'yes' };
    const metadata = { name: `far-${index}`, labels };
    await rig.admin.create(Node, { apiVersion: 'v1', kind: 'Node', metadata }, { manager: 'test' });
  }
}

/** Milliseconds of CPU that a process has used. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const label = (node: string, labels: object) =>
  rig.admin.patch(Node, { namespace: '', name: node }, { metadata: { labels } }, { type: 'merge', manager: 'test' });

/** Changes labels and status of nodes by turns until the time is over; answers with how often. */
async function churn(until: number): Promise<number> {
  let changes = 0;
  const status = { type: 'merge', manager: 'kubelet', subresource: 'status' } as const;
  const one = async (turn: number) => {
    for (let index = turn; performance.now() < until; index = (index + 7) % count) {
      await label(`far-${index}`, { 'example.com/heat': String(changes) });
      const body = { status: { images: [{ names: [`image-${changes}`], sizeBytes: changes }] } };
      await rig.admin.patch(Node, { namespace: '', name: `far-${index}` }, body, status);
      changes += 2;
    }
  };
  await Promise.all([one(0), one(300), one(600), one(900)]);
  return changes;
}

test('what says nothing about devices costs no pass and no write; one label costs one pass of each whom it concerns', (t) =>
  onLane(rig, { subject: devicetemplate, namespaces: [] }, async (lane) => {
    const spec = { consumer: 'registry.example/consumer:1', plugin: 'registry.example/plugin:1' };
    const selectors = Array.from({ length: templates }, (_, index) => ({ [`example.com/part-${index}`]: 'yes' }));
    await Promise.all(selectors.map((selector, index) => ask(lane, { ...spec, selector }, `part-${index}`)));
    await ask(lane, { ...spec, selector: { 'example.com/all': 'yes' } }, 'all');
    const matching = (name: string) => lane.truth.get(devicetemplate.kind, name)?.status?.nodes?.matching;
    await eventually(() => matching('all') === count && matching('part-0') === count / templates, { within: 60_000 });
    await atRest(lane, 2_000).catch(() => {}); // nodes come and go as news all the time
    const operator = await lane.operator.current();
    const passes = () => operator.metric('baton_passes_total', 'DeviceTemplate');
    const [begun, cpu, mark] = [await passes(), cpuOf(operator.pid), lane.proxy.trace.mark()];
    const changes = await churn(performance.now() + span);
    await pause(1_000);
    const used = cpuOf(operator.pid) - cpu;
    t.diagnostic(
      `${changes} changes of ${count} nodes in ${span / 1_000} s: ${used} ms of CPU, ${((used * 1_000) / changes).toFixed(0)} us each`,
    );
    ok(changes > 500, `only ${changes} changes`);
    deepEqual(writesSince(lane, mark), []);
    equal((await passes()) - begun, 0, 'nobody was looked at');

    const since = lane.proxy.trace.mark();
    await label('far-3', { [moduleLabels(lane.namespace, 'part-3-module').loaded]: '' });
    const loaded = () => lane.truth.get(devicetemplate.kind, 'part-3')?.status?.nodes?.loaded;
    await eventually(() => loaded() === 1, { what: 'the one whom it concerns has seen it' });
    await pause(1_500);
    deepEqual(writesSince(lane, since), ['apply devicetemplates/status part-3 -> 200']);
    // News of its own status may outrun the answer to the write: then it is looked at once more, for nothing.
    ok([1, 2].includes((await passes()) - begun), 'nobody else was looked at');
  }));
