// Plays a cause: it comes about, it is told within five seconds of its own report, and the conditions are what the table of
// reasons asks for, at once and after the deadline.

import { deepEqual, ok } from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { MLModel } from '../../../src/api/index.ts';
import { Deployment, Job, KubeEvent, PersistentVolumeClaim, Pod } from '../../../src/objects/index.ts';
import { eventually } from '../../kit/eventually.ts';
import type { Rig } from '../../kit/rig.ts';
import { openPlace, type Place, stalled, told, verdictOf } from '../../kit/telling.ts';
import type { Case } from './case.ts';
import { gaveUp } from './servers.ts';

const longest = 5_000;

const verdicts = {
  going: { ready: 'False', reconciling: 'True', stalled: 'False', kstatus: 'InProgress' },
  stalled: { ready: 'False', reconciling: 'False', stalled: 'True', kstatus: 'Failed' },
};

/** Plays it with a model of this spec and what the cause adds to it; gives what was seen meanwhile. */
export async function play(rig: Rig, t: TestContext, one: Case, spec: object): Promise<Place> {
  const place = await openPlace(rig, [MLModel, Pod, PersistentVolumeClaim, Job, Deployment, KubeEvent]);
  await playAt(place, t, one, spec).finally(() => place.witness.stop());
  return place;
}

async function playAt(place: Place, t: TestContext, one: Case, spec: object): Promise<void> {
  const { rig, namespace } = place;
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
  await one.later?.(place);
}

/** Waits until the model is so. */
const becomes = ({ rig, namespace }: Place, verdict: object): Promise<true> =>
  eventually(
    async () => {
      deepEqual(verdictOf(await rig.admin.get(MLModel, { namespace, name: 'iris' })), verdict);
      return true as const;
    },
    { within: 60_000, what: `it is ${JSON.stringify(verdict)}` },
  );
