// DeviceTemplates that want nothing cost nothing: whatever they have come to, no request is made for them but the lease.

import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { conditionOf, moduleLabels, Node } from '../../src/objects/index.ts';
import { devicetemplate } from '../kit/devicelife.ts';
import { eventually } from '../kit/eventually.ts';
import { ask, atRest, onLane, wordsOf } from '../kit/lane.ts';
import { kmmOf } from '../kit/kmm/installed.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 2 }, devicetemplate.installed)));
after(() => rig.stop());

const images = { consumer: 'registry.example/consumer:1', plugin: 'registry.example/plugin:1' };
const selector = { 'kubernetes.io/os': 'linux' };

/** What they have come to, and the reason by which that is known. */
const states: Record<string, { spec: object; reason: string }> = {
  ready: { spec: { ...images, selector }, reason: 'ConsumersReady' },
  seed: {
    spec: { selector, consumerimage: images.consumer, imageRepoSecret: { name: 'pull' } },
    reason: 'ConsumersReady',
  },
  nowhere: { spec: { ...images, selector: { nobody: 'x' } }, reason: 'NoMatchingNodes' },
  refused: { spec: { ...images, plugin: 'evil.example/plugin:1', selector }, reason: 'ImageNotAllowed' },
  untold: { spec: { ...images, selector, driver: { version: '2' } }, reason: 'OtherVersion' },
  full: { spec: { ...images, selector, resourceName: 'example.com/none' }, reason: 'Unschedulable' },
};

test('DeviceTemplates at rest cost no request but the lease, and no watch is opened anew, over 60 s', (t) => {
  const lease = { namespace: product.home, name: 'baton' };
  return onLane(rig, { subject: devicetemplate, namespaces: [], lease }, async (lane) => {
    const { proxy, truth, namespace } = lane;
    await Promise.all(Object.entries(states).map(([name, { spec }]) => ask(lane, spec, name)));
    const told = (name: string) => conditionOf(truth.get(devicetemplate.kind, name)?.status, 'Ready')?.reason;
    for (const [name, { reason }] of Object.entries(states))
      await eventually(() => told(name) === reason, { within: 90_000, what: `${name} is ${reason}` });
    await atRest(lane, 3_000);
    const mark = proxy.trace.mark();
    await pause(60_000);
    const { calls } = proxy.trace.since(mark);
    // Of kinds that nobody ever touched an API server sends no bookmarks: their watches fall silent, and are opened anew.
    const touched = new Set(
      proxy.trace.events.filter(({ type }) => type !== 'BOOKMARK').map(({ resource }) => resource),
    );
    const silent = calls.filter(({ verb, resource }) => verb === 'watch' && !touched.has(resource));
    const leases = calls.filter(({ resource }) => resource === 'leases');
    t.diagnostic(`${leases.length} requests for the lease, ${proxy.watches()} watches`);
    const others = calls.filter((call) => !leases.includes(call) && !silent.includes(call));
    deepEqual(others.map(wordsOf), []);
    ok(leases.every(({ verb }) => verb === 'update') && leases.length <= 31, `${leases.length} renewals`);

    await kmmOf(rig).stop();
    const labels = { [moduleLabels(namespace, 'ready-module').plugged]: null };
    await rig.admin.patch(
      Node,
      { namespace: '', name: 'node-1' },
      { metadata: { labels } },
      { type: 'merge', manager: 'kmm' },
    );
    const ready = () => truth.get(devicetemplate.kind, 'ready')?.status?.nodes?.ready;
    await eventually(() => ready() === 1, { what: 'it is not asleep: a node that loses its plugin is told' });
  });
});
