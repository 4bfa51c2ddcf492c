// What an operator costs and how soon it answers: a storm of edits, a single edit, and no edit at all. Times are those of
// the trace, so a busy machine delays the test and the operator alike.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Call } from '../../controlplane/faults/index.ts';
import { ConfigMap } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { home, type Rig, startRig } from '../kit/rig.ts';
import { atRest, becomesReady, type Lane, onLane, wordsOf } from '../kit/lane.ts';
import { plain } from '../kit/trio/life.ts';
import { Trio } from '../kit/trio/schema.ts';

let rig: Rig;
before(async () => void (rig = await startRig()));
after(() => rig.stop());

/** A Trio that is Ready and at rest. */
async function calmTrio(lane: Lane, name: string): Promise<void> {
  await rig.apply(Trio, { metadata: { namespace: lane.namespace, name }, spec: { text: 'hello', withJob: false } });
  await becomesReady(lane, name);
  await atRest(lane);
}

const passesOf = async ({ operator }: Lane) =>
  (await operator.current()).metric('baton_passes_total', 'controller="Trio"');

const edit = (namespace: string, name: string, spec: object) =>
  rig.admin.patch(Trio, { namespace, name }, { spec }, { type: 'merge', manager: 'user' });

/** Fifty different specs: one that only the ConfigMap shows, one that rolls the servers. */
const storms = {
  'the ConfigMap': (nth: number) => ({ text: `edit ${nth}` }),
  'the ConfigMap and the servers': (nth: number) => ({ text: `edit ${nth}`, env: [{ name: 'N', value: `${nth}` }] }),
};

describe('edits', { concurrency: 4 }, () => {
  for (const [what, spec] of Object.entries(storms))
    test(`50 edits of ${what} in 5 s: the last one wins, in at most 12 passes`, (t) =>
      onLane(rig, plain, async (lane) => {
        const { namespace } = lane;
        await calmTrio(lane, 'storm');
        const earlier = await passesOf(lane);
        const begun = performance.now();
        for (let nth = 1; nth <= 50; nth++) {
          await pause(begun + nth * 100 - performance.now());
          await edit(namespace, 'storm', spec(nth));
        }
        const says = () => lane.truth.get(ConfigMap, 'storm-config')?.data?.['text'];
        await eventually(() => says() === 'edit 50', { what: 'the last edit wins' });
        const passes = (await passesOf(lane)) - earlier;
        t.diagnostic(`${passes} passes in ${Math.round(performance.now() - begun)} ms`);
        ok(passes <= 12, `${passes} passes`);
        await becomesReady(lane, 'storm');
        await atRest(lane);
        equal(says(), 'edit 50');
      }));

  test('a single edit never waits', (t) =>
    onLane(rig, plain, async (lane) => {
      await calmTrio(lane, 'single');
      const delays: number[] = [];
      for (let nth = 1; nth <= 5; nth++) {
        const mark = lane.proxy.trace.mark();
        await edit(lane.namespace, 'single', { text: `edit ${nth}` });
        const write = await eventually(() => firstWrite(lane, mark), { every: 5, what: 'a reaction' });
        const told = lane.proxy.trace.since(mark).events.find(({ resource }) => resource === 'trios');
        delays.push(write.at - (told?.deliveredAt ?? 0));
        await atRest(lane);
      }
      t.diagnostic(`from the event to the first write: ${delays.map((ms) => ms.toFixed(1)).join(', ')} ms`);
      // A machine that is busy may delay one of them; a queue that makes an edit wait would delay them all, by half a second.
      const typical = delays.toSorted((a, b) => a - b)[2] ?? Infinity;
      ok(typical < 200 && Math.max(...delays) < 500, `they took ${delays.join(', ')} ms`);
    }));

  test('pitfall 2: steady state costs no request but the lease, and no watch is opened anew, over 90 s', (t) =>
    onLane(rig, { ...plain, lease: { namespace: home, name: 'trio' } }, async (lane) => {
      const { namespace, proxy } = lane;
      const names = ['one', 'two', 'three', 'four', 'five'];
      await Promise.all(
        names.map((name) => rig.apply(Trio, { metadata: { namespace, name }, spec: { text: `I am ${name}` } })),
      );
      await Promise.all(names.map((name) => becomesReady(lane, name)));
      await atRest(lane, 3_000);
      const mark = proxy.trace.mark();
      await pause(90_000);
      const { calls } = proxy.trace.since(mark);
      const leases = calls.filter(({ resource }) => resource === 'leases');
      t.diagnostic(`${leases.length} requests for the lease, ${proxy.watches()} watches`);
      deepEqual(calls.filter((call) => !leases.includes(call)).map(wordsOf), []);
      ok(leases.every(({ verb }) => verb === 'update') && leases.length <= 46, `${leases.length} renewals`);
    }));
});

const firstWrite = ({ proxy }: Lane, mark: number): Call | undefined =>
  proxy.trace.writes().find(({ seq }) => seq > mark);
