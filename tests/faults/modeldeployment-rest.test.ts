// ModelDeployments that want nothing cost nothing: whatever they have come to, no request is made for them but the lease.

import { after, before, test } from 'node:test';
import { conditionOf } from '../../src/objects/index.ts';
import { deploymentSubject } from '../kit/deploymentlife.ts';
import { eventually } from '../kit/eventually.ts';
import { onLane } from '../kit/lane.ts';
import { bringTo, costsNothing, type Resting } from '../kit/rest.ts';
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

const states: Record<string, Resting> = {
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
    await bringTo(lane, all);
    const told = () => conditionOf(lane.truth.get(subject.kind, 'scaled')?.status, 'Autoscaled');
    await eventually(() => told()?.reason === 'FailedGetResourceMetric', {
      within: 90_000,
      what: 'the autoscaler has looked',
    });
    await costsNothing(lane, t);
  });
});
