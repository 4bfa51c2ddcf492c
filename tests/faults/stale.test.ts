// A world that moves while the operator looks at an old picture of it, and one that moved and moved back before it looked.
// Whatever it then does, it must not delete or overwrite what is newer, and in the end it must be where it would have been.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { conditionOf, ConfigMap, Deployment, Job } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { atRest, becomesReady, type Lane, onLane, wordsOf } from '../kit/story.ts';
import { plain } from '../kit/trio/life.ts';
import { Trio } from '../kit/trio/schema.ts';

let rig: Rig;
before(async () => void (rig = await startRig()));
after(() => rig.stop());

const trio = ({ namespace }: Lane, name: string, own: object = {}) =>
  rig.apply(Trio, { metadata: { namespace, name }, spec: { text: 'hello', withJob: false, ...own } });
const freeze = ({ proxy }: Lane, resource: string) => proxy.now({ kind: 'freeze', watches: { resource } });
const thaw = ({ proxy }: Lane, resource: string) => proxy.now({ kind: 'unfreeze', watches: { resource } });
const deletes = ({ proxy }: Lane) =>
  proxy.trace.writes({ verb: 'delete' }).filter(({ answer }) => answer?.status === 200);

describe('an old picture', { concurrency: 4 }, () => {
  test('pitfall 10: a child was replaced by a stranger’s: it is not touched', () =>
    onLane(rig, plain, async (lane) => {
      const { namespace } = lane;
      await trio(lane, 'one');
      await becomesReady(lane, 'one');
      await atRest(lane);
      await freeze(lane, 'configmaps');
      await rig.admin.delete(ConfigMap, { namespace, name: 'one-config' });
      const strange = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name: 'one-config' },
        data: { text: 'theirs' },
      };
      const made = await rig.admin.create(ConfigMap, strange, { manager: 'somebody' });
      await trio(lane, 'one', { text: 'edited while it looks at the old one' });
      await pause(3_000);
      await thaw(lane, 'configmaps');
      await eventually(
        async () =>
          conditionOf((await rig.get(Trio, namespace, 'one'))?.status, 'Stalled')?.reason === 'OwnershipConflict',
      );
      deepEqual((await rig.admin.get(ConfigMap, { namespace, name: 'one-config' })).metadata, made.metadata);
    }));

  test('the object was replaced by one of the same name: its children are its own', () =>
    onLane(rig, plain, async (lane) => {
      const { namespace } = lane;
      await trio(lane, 'one');
      const first = await becomesReady(lane, 'one');
      await freeze(lane, 'trios');
      await rig.admin.delete(Trio, { namespace, name: 'one' }, { propagation: 'Orphan' });
      await eventually(async () => (await rig.list(Trio, namespace)).length === 0);
      const second = await trio(lane, 'one', { text: 'second' });
      await rig.admin.delete(Deployment, { namespace, name: 'one-server' }); // wakes the old picture
      await pause(2_000);
      await thaw(lane, 'trios');
      await becomesReady(lane, 'one', 120_000);
      const children = [
        await rig.admin.get(ConfigMap, { namespace, name: 'one-config' }),
        await rig.admin.get(Deployment, { namespace, name: 'one-server' }),
      ];
      for (const child of children) equal(child.metadata.ownerReferences?.[0]?.uid, second.metadata.uid);
      ok(first.metadata.uid !== second.metadata.uid);
    }));

  test('what an edit wants again is not deleted for the sake of the old wish', () =>
    onLane(rig, plain, async (lane) => {
      const { namespace } = lane;
      await trio(lane, 'one', { withJob: true, jobAnnotations: { 'sim.baton.dev/run-for': '4s' } });
      await eventually(() => rig.get(Job, namespace, 'one-job'), { what: 'the Job is there' });
      await atRest(lane, 300);
      await freeze(lane, 'trios');
      await trio(lane, 'one', { withJob: true, jobAnnotations: { 'sim.baton.dev/run-for': '4s' }, text: 'edited' });
      await eventually(
        async () =>
          (await rig.get(ConfigMap, namespace, 'one-config'))?.metadata.annotations?.['test.baton.dev/result'],
        { what: 'the result is noted' },
      );
      await pause(2_000);
      deepEqual(deletes(lane), [], 'the live look at the object held the deletion back');
      await thaw(lane, 'trios');
      await becomesReady(lane, 'one');
      await eventually(() => deletes(lane).length === 1, { what: 'the Job goes after all' });
    }));
});

describe('what was never seen', { concurrency: 4 }, () => {
  test('a Job that finished and was removed by somebody else: it runs once more, and no error remains', () =>
    onLane(rig, plain, async (lane) => {
      const { namespace } = lane;
      await trio(lane, 'one', { withJob: true, jobAnnotations: { 'sim.baton.dev/run-for': '2s' } });
      await eventually(() => rig.get(Job, namespace, 'one-job'), { what: 'the Job is there' });
      await freeze(lane, 'jobs');
      await freeze(lane, 'pods');
      await eventually(async () => (await rig.get(Job, namespace, 'one-job'))?.status?.succeeded === 1, {
        what: 'the Job ends unseen',
      });
      await rig.admin.delete(Job, { namespace, name: 'one-job' }, { propagation: 'Background' });
      await pause(500);
      await lane.proxy.now({ kind: 'unfreeze', watches: { resource: ['jobs', 'pods'] }, held: 'deliver' });
      await becomesReady(lane, 'one');
      equal(conditionOf((await rig.get(Trio, namespace, 'one'))?.status, 'Stalled')?.status, 'False');
    }));

  test('a child that was deleted and made anew by somebody else with our labels: it is taken back, not doubled', () =>
    onLane(rig, plain, async (lane) => {
      const { namespace } = lane;
      await trio(lane, 'one');
      await becomesReady(lane, 'one');
      await atRest(lane);
      const held = await rig.admin.get(ConfigMap, { namespace, name: 'one-config' });
      await freeze(lane, 'configmaps');
      await rig.admin.delete(ConfigMap, { namespace, name: 'one-config' });
      const { labels, annotations } = held.metadata;
      const metadata = {
        namespace,
        name: 'one-config',
        ...(labels && { labels }),
        ...(annotations && { annotations }),
      };
      await rig.admin.create(
        ConfigMap,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'restored from a backup' } },
        { manager: 'backup' },
      );
      await thaw(lane, 'configmaps');
      await eventually(async () => {
        const now = await rig.admin.get(ConfigMap, { namespace, name: 'one-config' });
        equal(now.data?.['text'], 'hello');
        equal(now.metadata.ownerReferences?.[0]?.name, 'one');
        return true;
      });
    }));

  test('servers that went and came back: nothing is written, and nothing flips', () =>
    onLane(rig, plain, async (lane) => {
      const { namespace } = lane;
      await trio(lane, 'one');
      await becomesReady(lane, 'one');
      await atRest(lane);
      const { spec } = await rig.admin.get(Deployment, { namespace, name: 'one-server' });
      const mark = lane.proxy.trace.mark();
      for (const resource of ['deployments', 'pods']) await freeze(lane, resource);
      const scale = (replicas: number) =>
        rig.admin.patch(
          Deployment,
          { namespace, name: 'one-server' },
          { spec: { replicas } },
          { type: 'merge', manager: 'somebody' },
        );
      await scale(0);
      await eventually(async () => !(await replicasOf(lane)), { what: 'the server goes' });
      await scale(spec.replicas ?? 1);
      await eventually(async () => (await replicasOf(lane)) === 1, { what: 'the server is back' });
      for (const resource of ['deployments', 'pods']) await thaw(lane, resource);
      await atRest(lane);
      deepEqual(
        lane.proxy.trace.since(mark).calls.map(wordsOf),
        [],
        'every state that was passed through was over when it was seen',
      );
    }));
});

test('pitfall 10: no read accepts an old picture: a server that lags is never believed', () =>
  onLane(rig, plain, async (lane) => {
    await trio(lane, 'one');
    const { metadata } = await becomesReady(lane, 'one');
    const old = { kind: 'serveOld', resourceVersion: metadata.resourceVersion ?? '' } as const;
    lane.proxy.setPlan([{ when: { request: { verb: ['list', 'watch'] } }, do: old, times: 'always' }], lane.operator);
    await trio(lane, 'one', { text: 'newer' });
    await lane.operator.kill();
    await becomesReady(lane, 'one');
    await lane.proxy.now({ kind: 'reset' });
    await trio(lane, 'one', { text: 'newest' });
    await becomesReady(lane, 'one');
    deepEqual(lane.proxy.firings(), [0]);
    deepEqual(
      lane.proxy.trace.requests().filter(({ resourceVersion }) => resourceVersion === '0'),
      [],
    );
  }));

const replicasOf = async ({ namespace }: Lane) =>
  (await rig.admin.get(Deployment, { namespace, name: 'one-server' })).status?.availableReplicas;
