// Every cause of failure is in the message within five seconds of its own report, with the conditions that the table of
// reasons asks for: what can go on by itself is on its way, what needs a person has stalled. Tools read it the same way.

import { deepEqual, ok } from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { MLModel } from '../../src/api/index.ts';
import { Deployment, Job, KubeEvent, PersistentVolumeClaim, Pod } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';
import { openPlace, type Place, stalled, told, verdictOf } from '../kit/telling.ts';
import type { Case } from './causes/case.ts';
import { downloadCases } from './causes/downloads.ts';
import { refusals } from './causes/refusals.ts';
import { gaveUp, serverCases } from './causes/servers.ts';

let rig: Rig;
before(async () => {
  rig = await startRig({ nodes: 1 }, product);
  await rig.operator();
});
after(() => rig.stop());

const spec = { modelURL: 'https://models.example/iris-1.onnx', storageSize: '1Gi', framework: 'onnx' };
const longest = 5_000;

const verdicts = {
  going: { ready: 'False', reconciling: 'True', stalled: 'False', kstatus: 'InProgress' },
  stalled: { ready: 'False', reconciling: 'False', stalled: 'True', kstatus: 'Failed' },
};

/** Waits until the model is so. */
const becomes = ({ namespace }: Place, verdict: object): Promise<true> =>
  eventually(
    async () => {
      deepEqual(verdictOf(await rig.admin.get(MLModel, { namespace, name: 'iris' })), verdict);
      return true as const;
    },
    { within: 60_000, what: `it is ${JSON.stringify(verdict)}` },
  );

async function play(t: TestContext, one: Case): Promise<void> {
  const place = await openPlace(rig, [MLModel, Pod, PersistentVolumeClaim, Job, Deployment, KubeEvent]);
  await playAt(place, t, one).finally(() => place.witness.stop());
}

async function playAt(place: Place, t: TestContext, one: Case): Promise<void> {
  const { namespace } = place;
  await one.prepare?.(place);
  await rig.apply(MLModel, { metadata: { namespace, name: 'iris' }, spec: { ...spec, ...one.own } });
  const within = async (what: string, moments: Promise<number>[]) => {
    const [from = Number.NaN, to = Number.NaN] = await Promise.all(moments);
    t.diagnostic(`${what} after ${Math.round(to - from)} ms`);
    ok(to - from < longest, `${what} only after ${to - from} ms`);
  };
  await within('told', [one.report(place), told(place, one.words)]);
  await becomes(place, { reason: one.reason, ...verdicts[one.is] });
  if (one.deadline === 'of the Deployment') await within('given up', [gaveUp(place), stalled(place)]);
  if (one.deadline) await becomes(place, { reason: one.reason, ...verdicts.stalled });
}

describe('a cause is told within five seconds', { concurrency: 5 }, () => {
  for (const one of [...serverCases, ...downloadCases, ...refusals]) test(one.name, (t) => play(t, one));
});
