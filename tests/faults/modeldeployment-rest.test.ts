// ModelDeployments that want nothing cost nothing: whatever they have come to, no request is made for them but the lease.

import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { conditionOf } from '../../src/objects/index.ts';
import { deploymentSubject } from '../kit/deploymentlife.ts';
import { eventually } from '../kit/eventually.ts';
import { ask, atRest, onLane, wordsOf } from '../kit/lane.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
let life: Awaited<ReturnType<typeof deploymentSubject>>;
before(async () => {
  life = await deploymentSubject();
  rig = await startRig({ nodes: 1 }, product);
});
after(async () => {
  await rig.stop();
  await life.stop();
});

const image = `registry.example/iris@sha256:${'a'.repeat(64)}`;

/** What they have come to, and the reason by which that is known. */
const states: Record<string, { spec: object; reason: string }> = {
  pinned: { spec: { image }, reason: 'Serving' },
  several: { spec: { image, replicas: 3 }, reason: 'Serving' },
  idle: { spec: { image, replicas: 0 }, reason: 'ScaledToZero' },
  // The autoscaler is at work, as far as it can be without metrics.
  scaled: { spec: { image, minReplicas: 2, maxReplicas: 3 }, reason: 'Serving' },
};

test('ModelDeployments at rest cost no request but the lease, and no watch is opened anew, over 60 s', (t) => {
  const { subject } = life;
  const [tagged = { image: '' }, shut = tagged] = subject.life as { image: string }[];
  const absent = { ...tagged, image: `${tagged.image}-absent` };
  const all = {
    ...states,
    tagged: { spec: tagged, reason: 'Serving' },
    shut: { spec: shut, reason: 'Serving' },
    absent: { spec: absent, reason: 'SourceNotFound' },
  };
  const installed = { ...product, ...(subject.installed.options && { options: subject.installed.options }) };
  const lease = { namespace: product.home, name: 'baton' };
  return onLane(rig, { subject: { ...subject, installed }, lease }, async (lane) => {
    const { proxy, truth } = lane;
    await Promise.all(Object.entries(all).map(([name, { spec }]) => ask(lane, spec, name)));
    const told = (name: string, type: string) => conditionOf(truth.get(subject.kind, name)?.status, type);
    for (const [name, { reason }] of Object.entries(all))
      await eventually(() => told(name, 'Ready')?.reason === reason, { within: 90_000, what: `${name} is ${reason}` });
    await eventually(() => told('scaled', 'Autoscaled')?.reason === 'FailedGetResourceMetric', {
      within: 90_000,
      what: 'the autoscaler has looked',
    });
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
  });
});
