// The world standing still: nobody edits anything and the weather stays, but pods start, downloads end, controllers look
// and time passes. A model must come to rest then, and stay there.

import { deepEqual, equal, fail, ok } from 'node:assert/strict';
import { conditionOf, ControllerRevision, Deployment, Job, PersistentVolumeClaim } from '../../../src/objects/index.ts';
import type { Life } from './life.ts';
import { troubles } from './truth.ts';

/** Rounds in which everything must have come to rest, deadlines included. */
const enough = 120;

const hour = 3_600_000;

/** Lets the world go on until nothing changes any more, and answers how many rounds that took. */
export function rest(life: Life): number {
  let wasReady = false;
  for (let round = 1; round <= enough; round++) {
    const { version } = life.store;
    life.round(round);
    const ready = conditionOf(life.status, 'Ready')?.status === 'True';
    ok(ready || !wasReady, 'Ready was told, and taken back with nothing changed');
    wasReady = ready;
    if (life.store.version !== version) continue;
    const next = deadline(life);
    if (next === undefined) return round;
    life.store.now = next;
  }
  return fail('it does not come to rest');
}

/** When something would happen by time alone. */
function deadline({ store, again }: Life): number | undefined {
  const rolling = store.all(Deployment).flatMap(({ spec, status }) => {
    const progress = status?.conditions?.find(({ type }) => type === 'Progressing');
    const open = progress?.status === 'True' && progress.reason !== 'NewReplicaSetAvailable';
    return open
      ? [Date.parse(progress.lastTransitionTime ?? '') + Number(spec['progressDeadlineSeconds']) * 1_000 + 1]
      : [];
  });
  const times = [...rolling, ...(again === undefined ? [] : [store.now + again + 1])].filter(
    (time) => time > store.now,
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/** At rest it is Ready or says truly why not, looking again later writes nothing and says the same, and nothing is left over. */
export function checkRest(life: Life): void {
  const before = life.status;
  const { version } = life.store;
  life.store.now += hour;
  life.pass();
  equal(life.store.version, version, 'it writes though nothing changed');
  deepEqual(life.status, before, 'it says something else though nothing changed');
  const [ready, stalled] = ['Ready', 'Stalled'].map((type) => conditionOf(life.status, type));
  ok(
    ready?.status === 'True' || stalled?.status === 'True',
    `at rest, but neither ready nor stalled: ${ready?.message}`,
  );
  if (stalled?.status === 'True') ok(troubles(life).has(stalled.reason), `stalled without need: ${stalled.message}`);
  if (ready?.status === 'True') checkLeftovers(life);
}

/** A model that is ready has no downloads, and only as many revisions and volumes as it should remember. */
function checkLeftovers({ store, model }: Life): void {
  equal(store.all(Job).length, 0, 'a download is left over');
  const most = 1 + model.spec.rollout.history;
  ok(store.all(ControllerRevision).length <= most, 'revisions are left over');
  const staying = store.all(PersistentVolumeClaim).filter(({ metadata }) => !metadata.deletionTimestamp);
  ok(staying.length <= most, 'volumes are left over');
}
