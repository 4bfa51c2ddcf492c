// Single requests that go wrong: refused, delayed, cut, lost. One object in trouble harms nobody else, says what is wrong
// in the server's own words, and is fine again by itself once the trouble is over.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Action, Plan } from '../../controlplane/faults/index.ts';
import { conditionOf, ConfigMap } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { births } from '../kit/oracle.ts';
import { must, type Rig, startRig } from '../kit/rig.ts';
import { atRest, becomesReady, type Lane, onLane } from '../kit/lane.ts';
import { plain } from '../kit/trio/life.ts';
import { Trio } from '../kit/trio/schema.ts';

let rig: Rig;
before(async () => void (rig = await startRig()));
after(() => rig.stop());

const spec = { text: 'hello', withJob: false };
const trio = ({ namespace }: Lane, name: string, own: object = {}) =>
  rig.apply(Trio, { metadata: { namespace, name }, spec: { ...spec, ...own } });
const stalled = async ({ namespace }: Lane, name: string) =>
  conditionOf((await rig.get(Trio, namespace, name))?.status, 'Stalled');

/** Every kind of write in the life of a Trio meets the fault once. */
const each = (action: Action): Plan =>
  (['create', 'apply', 'patch', 'delete'] as const).map((verb) => ({ when: { write: { verb } }, do: action }));

describe('a request', { concurrency: 4 }, () => {
  test('409 for ever on one object: it is not asked in a hot loop, and the others go on', () =>
    onLane(rig, plain, async (lane) => {
      await trio(lane, 'bad');
      await becomesReady(lane, 'bad');
      const conflict = { kind: 'status', reason: 'Conflict' } as const;
      lane.proxy.setPlan([{ when: { write: { name: 'bad-config' } }, do: conflict, times: 'always' }]);
      await trio(lane, 'bad', { text: 'never' });
      await trio(lane, 'good');
      const begun = performance.now();
      await becomesReady(lane, 'good');
      await pause(5_000);
      const asked = lane.proxy.trace.writes({ name: 'bad-config' }).filter(({ at }) => at >= begun);
      const seconds = (performance.now() - begun) / 1_000;
      ok(asked.length > 0 && asked.length / seconds < 5, `${asked.length} writes in ${seconds} s`);
      lane.proxy.clearPlan();
      await becomesReady(lane, 'bad');
    }));

  for (const [name, action] of Object.entries({
    '500 on every verb': { kind: 'status', reason: 'InternalError' },
    '502 on every verb': { kind: 'status', reason: 'BadGateway' },
    '503 on every verb': { kind: 'status', reason: 'ServiceUnavailable' },
    '504 on every verb': { kind: 'status', reason: 'Timeout' },
    'lost before it is applied': { kind: 'dropBefore' },
    'answer lost after it was applied': { kind: 'dropAfter' },
    'answer cut in the middle': { kind: 'truncate', bytes: 40 },
    'answer that drips': { kind: 'drip', bytes: 200, ms: 20 },
  } satisfies Record<string, Action>))
    test(`${name}: the same end, and every child is made once`, () =>
      onLane(rig, plain, async (lane) => {
        lane.proxy.setPlan(each(action));
        await trio(lane, 'one', { withJob: true });
        await becomesReady(lane, 'one');
        await trio(lane, 'one', { withJob: true, text: 'again', env: [{ name: 'A', value: '1' }] });
        await becomesReady(lane, 'one');
        await atRest(lane);
        const made = births(lane.truth.history());
        deepEqual(
          ['ConfigMap one-config', 'Job one-job', 'Deployment one-server'].map((child) => made[child]?.made),
          [1, 1, 1],
        );
        deepEqual(lane.proxy.firings(), [1, 1, 1, 1]);
      }));

  test('pitfall 23: 429 with Retry-After: nothing is asked for the object before its time', () =>
    onLane(rig, plain, async (lane) => {
      await trio(lane, 'busy');
      await becomesReady(lane, 'busy');
      await atRest(lane);
      const busy = { kind: 'status', reason: 'TooManyRequests', retryAfter: 3 } as const;
      lane.proxy.setPlan([{ when: { write: { name: 'busy-config' } }, do: busy }]);
      await trio(lane, 'busy', { text: 'later' });
      await becomesReady(lane, 'busy');
      const asked = lane.proxy.trace.writes({ name: 'busy-config' });
      const refused = asked.findIndex(({ answer }) => answer?.status === 429);
      const [first, next] = asked.slice(refused);
      ok((next?.at ?? 0) - (first?.at ?? 0) >= 3_000, 'the server was obeyed');
    }));

  test('half-open: it is given up at its deadline, and tried again', () =>
    onLane(rig, plain, async (lane) => {
      await trio(lane, 'open');
      await becomesReady(lane, 'open');
      await atRest(lane);
      const mark = lane.proxy.trace.mark();
      lane.proxy.setPlan([{ when: { write: { name: 'open-config' } }, do: { kind: 'hang' } }]);
      await trio(lane, 'open', { text: 'later' });
      await becomesReady(lane, 'open', 60_000);
      const [hung, next] = lane.proxy.trace.since(mark).calls.filter(({ name }) => name === 'open-config');
      const gap = (next?.at ?? 0) - (hung?.at ?? 0);
      ok(hung?.faults.includes('hang') || next?.faults.includes('hang'));
      ok(gap < 35_000, `it took ${gap} ms to try again`);
    }));

  test('422: the status has the words of the server, and an edit ends it at once', () =>
    onLane(rig, plain, async (lane) => {
      const invalid = { kind: 'status', reason: 'Invalid' } as const;
      lane.proxy.setPlan([{ when: { write: { name: 'odd-config' } }, do: invalid, times: 'always' }]);
      await trio(lane, 'odd');
      await eventually(async () => (await stalled(lane, 'odd'))?.reason === 'Invalid');
      match((await stalled(lane, 'odd'))?.message ?? '', /the API server refused ConfigMap odd-config/);
      lane.proxy.clearPlan();
      await trio(lane, 'odd', { text: 'even' });
      await becomesReady(lane, 'odd');
    }));

  test('403 by a real quota: the status names the quota; it heals when there is room', () =>
    onLane(rig, plain, async (lane) => {
      const quota = ['-n', lane.namespace, 'create', 'quota', 'tight', '--hard=count/deployments.apps=0'];
      await must(rig.plane, quota);
      await eventually(async () =>
        (await must(rig.plane, ['-n', lane.namespace, 'get', 'quota', 'tight', '-o', 'yaml'])).includes('used:'),
      );
      await trio(lane, 'many');
      await eventually(async () => (await stalled(lane, 'many'))?.reason === 'QuotaExceeded');
      match((await stalled(lane, 'many'))?.message ?? '', /exceeded quota: tight/);
      await must(rig.plane, ['-n', lane.namespace, 'delete', 'quota', 'tight']);
      await becomesReady(lane, 'many');
    }));
});

/** A ConfigMap under the name of the child, in a world where the operator has not had its turn yet. */
async function takenBy(lane: Lane, ownerOf: (own: Trio) => Trio | undefined): Promise<ConfigMap> {
  const { namespace } = lane;
  await lane.operator.pause();
  const own = await trio(lane, 'late');
  const owner = ownerOf(own);
  const { apiVersion, kind } = Trio;
  const ownerReferences = owner
    ? [{ apiVersion, kind, name: owner.metadata.name, uid: owner.metadata.uid ?? '', controller: true }]
    : [];
  const metadata = { namespace, name: 'late-config', ownerReferences };
  const taken = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'first' } };
  const made = await rig.admin.create(ConfigMap, taken, { manager: 'somebody' });
  await lane.operator.resume();
  return made;
}

describe('409 AlreadyExists', { concurrency: 4 }, () => {
  test('by an object that we own, which had lost its labels: it is ours again, and is not made twice', () =>
    onLane(rig, plain, async (lane) => {
      const made = await takenBy(lane, (own) => own);
      await becomesReady(lane, 'late');
      const now = lane.truth.get(ConfigMap, 'late-config');
      equal(now?.metadata.uid, made.metadata.uid);
      equal(now?.data?.['text'], 'hello');
      equal(now?.metadata.labels?.['baton.dev/name'], 'late');
    }));

  for (const whose of ['nobody', 'somebody else'] as const)
    test(`by an object of ${whose}: it is not touched, and the status says so`, () =>
      onLane(rig, plain, async (lane) => {
        const other = await trio(lane, 'other');
        const made = await takenBy(lane, () => (whose === 'nobody' ? undefined : other));
        await eventually(async () => (await stalled(lane, 'late'))?.reason === 'OwnershipConflict');
        await pause(2_000);
        deepEqual(lane.truth.get(ConfigMap, 'late-config'), made);
        const tries = lane.proxy.trace.writes({ name: 'late-config' });
        ok(tries.length <= 6 && tries.every(({ verb }) => verb === 'create'), `${tries.length} tries`);
      }));

  test('by our own child that is still leaving: it is waited for, and then made anew', () =>
    onLane(rig, plain, async (lane) => {
      const { namespace } = lane;
      await trio(lane, 'one');
      await becomesReady(lane, 'one');
      await atRest(lane);
      const finalizers = (list: string[]) =>
        rig.admin.patch(
          ConfigMap,
          { namespace, name: 'one-config' },
          { metadata: { finalizers: list } },
          { type: 'merge', manager: 'somebody' },
        );
      const { metadata: former } = await finalizers(['test.baton.dev/slow']);
      await rig.admin.delete(ConfigMap, { namespace, name: 'one-config' });
      await trio(lane, 'one', { text: 'edited' });
      const mark = lane.proxy.trace.mark();
      await pause(3_000);
      deepEqual(
        lane.proxy.trace.since(mark).calls.filter(({ name }) => name === 'one-config'),
        [],
        'nothing is asked of what leaves',
      );
      await finalizers([]);
      await eventually(() => lane.truth.get(ConfigMap, 'one-config')?.data?.['text'] === 'edited');
      ok(lane.truth.get(ConfigMap, 'one-config')?.metadata.uid !== former.uid);
    }));
});
