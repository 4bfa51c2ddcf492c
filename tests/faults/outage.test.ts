// The longer troubles: a server that accepts and then says nothing, an API server that goes and comes back, a history that
// is gone, a full etcd. The operator stays up, asks gently, and goes on by itself.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Call } from '../../controlplane/faults/index.ts';
import { ConfigMap } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { ready, type Rig, startRig } from '../kit/rig.ts';
import { atRest, becomesReady, type Lane, onLane } from '../kit/lane.ts';
import { plain } from '../kit/trio/life.ts';
import { Trio } from '../kit/trio/schema.ts';

let rig: Rig;
before(async () => void (rig = await startRig()));
after(() => rig.stop());

const spec = { text: 'hello', withJob: false };
const make = ({ namespace }: Lane, name: string) => rig.apply(Trio, { metadata: { namespace, name }, spec });
const edit = ({ namespace }: Lane, name: string, text: string) =>
  rig.admin.patch(Trio, { namespace, name }, { spec: { text } }, { type: 'merge', manager: 'somebody' });
const says = async ({ namespace }: Lane, name: string) =>
  (await rig.get(ConfigMap, namespace, `${name}-config`))?.data?.['text'];

describe('silence', { concurrency: 4 }, () => {
  test('pitfall 1: a half-open watch is noticed within 90 s', (t) =>
    onLane(rig, plain, async (lane) => {
      const { proxy } = lane;
      await make(lane, 'quiet');
      await becomesReady(lane, 'quiet');
      await atRest(lane);
      const watches = { verb: 'watch', resource: 'trios' };
      const mark = proxy.trace.mark();
      await proxy.now({ kind: 'freeze', watches });
      const begun = performance.now();
      await edit(lane, 'quiet', 'changed');
      const again = await eventually(() => proxy.trace.requests(watches).find(({ seq }) => seq > mark), {
        within: 95_000,
        what: 'a new watch',
      });
      t.diagnostic(`noticed after ${Math.round((again.at - begun) / 1_000)} s`);
      ok(again.at - begun < 90_000);
      await proxy.now({ kind: 'unfreeze', watches });
      await becomesReady(lane, 'quiet');
      equal(await says(lane, 'quiet'), 'changed');
    }));

  for (const send of ['nothing', 'objects'] as const)
    test(`pitfall 18: a WatchList that sends ${send} and never its end: pages after 10 s of silence`, (t) =>
      onLane(rig, plain, async (lane) => {
        const { proxy } = lane;
        await make(lane, 'listed');
        await becomesReady(lane, 'listed');
        proxy.setPlan(
          [{ when: { request: { verb: 'watch' } }, do: { kind: 'silentWatchList', send }, times: 'always' }],
          lane.operator,
        );
        const mark = proxy.trace.mark();
        await lane.operator.kill();
        await edit(lane, 'listed', 'changed');
        await becomesReady(lane, 'listed');
        const of = (verb: string) =>
          proxy.trace.requests({ verb, resource: 'trios' }).find(({ seq }) => seq > mark)?.at ?? Number.NaN;
        t.diagnostic(`pages after ${Math.round(of('list') - of('watch'))} ms`);
        ok(of('list') - of('watch') >= 9_900 && of('list') - of('watch') < 12_000);
      }));

  test('410 in the middle of a list in pages: it begins again, and nobody is forgotten', () =>
    onLane(rig, { ...plain, limits: { listSilence: 500, pageSize: 1 } }, async (lane) => {
      const { proxy } = lane;
      const names = ['one', 'two', 'three'];
      for (const name of names) await make(lane, name);
      for (const name of names) await becomesReady(lane, name);
      proxy.setPlan(
        [
          { when: { request: { verb: 'watch' } }, do: { kind: 'silentWatchList', send: 'nothing' }, times: 'always' },
          {
            when: { request: { verb: 'list', resource: 'trios' }, nth: 2 },
            do: { kind: 'status', reason: 'Expired' },
            times: 2,
          },
        ],
        lane.operator,
      );
      await lane.operator.kill();
      for (const name of names) await edit(lane, name, 'changed');
      for (const name of names) await becomesReady(lane, name);
      equal(proxy.firings()[1], 2);
      await atRest(lane);
      deepEqual(
        lane.truth
          .history()
          .filter(({ type }) => type === 'DELETED')
          .map(({ object }) => object.kind),
        [],
      );
    }));

  test('a TLS handshake that stalls, then a server that answers: the operator starts by itself', () =>
    onLane(rig, plain, async (lane) => {
      await lane.proxy.now({ kind: 'connections', manner: 'refuse' });
      await lane.operator.kill();
      await lane.proxy.now({ kind: 'connections', manner: 'stall' });
      await lane.operator.current();
      await pause(3_000);
      await lane.proxy.now({ kind: 'connections', manner: 'accept' });
      await make(lane, 'late');
      await becomesReady(lane, 'late');
    }));
});

describe('the API server', () => {
  test('every request is refused for 8 s: at most 20 requests a second, and no restart', (t) =>
    onLane(rig, plain, async (lane) => {
      const { proxy } = lane;
      await make(lane, 'patient');
      await becomesReady(lane, 'patient');
      const mark = proxy.trace.mark();
      proxy.setPlan([{ when: { request: {} }, do: { kind: 'status', reason: 'ServiceUnavailable' }, times: 'always' }]);
      await proxy.now({ kind: 'reset' });
      const begun = performance.now();
      await edit(lane, 'patient', 'changed');
      await pause(8_000);
      const { calls } = proxy.trace.since(mark);
      proxy.setPlan([]);
      const perSecond = calls.length / ((performance.now() - begun) / 1_000);
      t.diagnostic(`${perSecond.toFixed(1)} requests a second, ${busiest(calls)} in the busiest one`);
      ok(perSecond <= 20, `${perSecond} requests a second`);
      await becomesReady(lane, 'patient', 3_000);
      equal(lane.operator.restarts(), 0);
    }));

  test('is killed and started again: what was edited meanwhile is done, by the same process', () =>
    onLane(rig, plain, async (lane) => {
      await make(lane, 'survivor');
      await becomesReady(lane, 'survivor');
      await lane.proxy.now({ kind: 'connections', manner: 'refuse' });
      await edit(lane, 'survivor', 'changed');
      await rig.plane.restartApiServer();
      await lane.proxy.now({ kind: 'connections', manner: 'accept' });
      await eventually(async () => (await says(lane, 'survivor')) === 'changed', { within: 30_000 });
      await ready(rig, lane.namespace, 'survivor');
      const operator = await lane.operator.current();
      equal(lane.operator.restarts(), 0);
      await eventually(async () => (await operator.probe('/readyz')).status === 200, { what: 'ready again' });
    }));

  test('has forgotten its history: the real 410 ends in a fresh view, deletions included', () =>
    onLane(rig, plain, async (lane) => {
      const { namespace, proxy } = lane;
      await make(lane, 'old');
      await ready(rig, namespace, 'old');
      const mark = proxy.trace.mark();
      await proxy.now({ kind: 'connections', manner: 'refuse' });
      await edit(lane, 'old', 'changed');
      await rig.admin.delete(ConfigMap, { namespace, name: 'old-config' });
      await rig.apply(ConfigMap, { metadata: { namespace, name: 'noise' } });
      await rig.plane.compactEtcd();
      await rig.plane.restartApiServer();
      await proxy.now({ kind: 'connections', manner: 'accept' });
      await eventually(async () => (await says(lane, 'old')) === 'changed', { what: 'the deleted child is made anew' });
      await ready(rig, namespace, 'old');
      const { events, calls } = proxy.trace.since(mark);
      const expired = [...events.filter(({ type }) => type === 'ERROR'), ...calls.filter(isExpired)];
      ok(expired.length > 0, 'the server said 410');
    }));

  test('has no space left: writes back off, and go on when there is space', (t) =>
    onLane(rig, plain, async (lane) => {
      const { namespace, proxy } = lane;
      await make(lane, 'full');
      await ready(rig, namespace, 'full');
      await atRest(lane);
      await rig.plane.fillEtcdQuota();
      const mark = proxy.trace.mark();
      try {
        await rig.admin.delete(ConfigMap, { namespace, name: 'full-config' }); // deletions are still taken
        await pause(6_000);
      } finally {
        await rig.plane.freeEtcdQuota();
      }
      const tries = proxy.trace.since(mark).calls.filter(({ resource }) => resource === 'configmaps');
      t.diagnostic(`${tries.length} tries in 6 s`);
      ok(tries.length >= 2 && tries.length <= 12, `${tries.length} tries in 6 s`);
      match(tries[0]?.answer?.reason ?? '', /InternalError|Unknown|^$/);
      await eventually(async () => (await says(lane, 'full')) === 'hello', {
        within: 15_000,
        what: 'the child is back',
      });
      equal(lane.operator.restarts(), 0);
    }));
});

const isExpired = ({ verb, answer }: Call): boolean => verb === 'watch' && answer?.status === 410;

/** The most requests that began within one second. */
const busiest = (calls: readonly Call[]): number =>
  Math.max(...calls.map(({ at }) => calls.filter((other) => other.at >= at && other.at < at + 1_000).length));
