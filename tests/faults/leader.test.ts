// Two operators and one Lease, each behind a proxy of its own, so that every write has a name. What the Lease cannot
// promise (a process that was stopped between its look at the clock and its write) the preconditions of the writes must.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Call, type FaultProxy, startFaultProxy } from '../../controlplane/faults/index.ts';
import { ConfigMap } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningOperator, startProcess } from '../kit/process.ts';
import { account, home, ready, type Rig, startRig } from '../kit/rig.ts';
import { Trio } from '../kit/trio/schema.ts';

const renewDeadline = 10_000;
let rig: Rig;
before(async () => {
  rig = await startRig();
});
after(() => rig.stop());

interface Candidate {
  operator: RunningOperator;
  proxy: FaultProxy;
}

let leases = 0;

/** Two operators that stand for the same Lease; the first leads. */
async function two(namespace: string): Promise<{ leader: Candidate; standby: Candidate; close: () => Promise<void> }> {
  const lease = { namespace: home, name: `lease-${++leases}` };
  const leader = await candidate(namespace, lease);
  await eventually(async () => (await leader.operator.metric('baton_leader')) === 1, { what: 'the first one leads' });
  const standby = await candidate(namespace, lease);
  await eventually(async () => (await standby.operator.probe('/readyz')).status === 200, {
    what: 'the second one stands by',
  });
  const close = async () => {
    for (const { operator, proxy } of [leader, standby]) {
      if (operator.alive()) await operator.kill();
      await proxy.stop();
    }
  };
  return { leader, standby, close };
}

async function candidate(namespace: string, lease: { namespace: string; name: string }): Promise<Candidate> {
  const { plane } = rig;
  const proxy = await startFaultProxy({ upstream: { url: plane.url, caPem: plane.caPem } });
  const kubeconfig = join(plane.folder, `candidate-${new URL(proxy.url).port}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig(await plane.token(home, account)));
  const own = { kubeconfig, outside: rig.outside, controller: 'plain', namespaces: [namespace], lease } as const;
  return { operator: await startProcess(plane.folder, { ...own, namespaces: [namespace] }), proxy };
}

const edit = (namespace: string, text: string) =>
  rig.admin.patch(Trio, { namespace, name: 'led' }, { spec: { text } }, { type: 'merge', manager: 'user' });

async function ledTrio(namespace: string): Promise<void> {
  await rig.apply(Trio, { metadata: { namespace, name: 'led' }, spec: { text: 'first', withJob: false } });
  await ready(rig, namespace, 'led');
}

const work = ({ trace }: FaultProxy): Call[] => trace.writes().filter(({ resource }) => resource !== 'leases');
const says = async (namespace: string) => (await rig.get(ConfigMap, namespace, 'led-config'))?.data?.['text'];
const renewals = ({ trace }: FaultProxy): Call[] =>
  trace.writes({ resource: 'leases' }).filter(({ answer }) => answer !== undefined && answer.status < 300);

describe('two operators', { concurrency: 3 }, () => {
  test('the leader is killed: the other one writes within 20 s', async () => {
    const namespace = await rig.namespace();
    const { leader, standby, close } = await two(namespace);
    await ledTrio(namespace);
    equal(work(standby.proxy).length, 0, 'who stands by writes nothing');
    const killed = performance.now();
    await leader.operator.kill();
    await edit(namespace, 'second');
    await eventually(async () => (await says(namespace)) === 'second', {
      within: 25_000,
      what: 'the other one takes over',
    });
    const first = work(standby.proxy)[0];
    ok(
      first && first.at - killed < 20_000,
      `the first write came ${Math.round((first?.at ?? 0) - killed)} ms after the kill`,
    );
    await close();
  });

  test('the leader is stopped gracefully: the other one writes within 2 s', async () => {
    const namespace = await rig.namespace();
    const { leader, standby, close } = await two(namespace);
    await ledTrio(namespace);
    const stopped = performance.now();
    const gone = leader.operator.stop();
    await edit(namespace, 'second');
    await eventually(async () => (await says(namespace)) === 'second', { within: 10_000, what: 'the change arrives' });
    await gone;
    const last = work(leader.proxy).at(-1);
    const first = work(standby.proxy)[0] ?? (last && last.at > stopped ? last : undefined);
    ok(
      first && first.at - stopped < 2_000,
      `the next write came ${Math.round((first?.at ?? 0) - stopped)} ms after the stop`,
    );
    await close();
  });

  test('pitfall 15: the leader is paused beyond its lease and resumed: it begins no write, and one on the wire changes nothing', async () => {
    const namespace = await rig.namespace();
    const { leader, standby, close } = await two(namespace);
    await ledTrio(namespace);
    // A write of the old leader stays on the wire while the world goes on without it.
    leader.proxy.setPlan([
      { when: { write: { resource: 'configmaps', verb: 'apply' } }, do: { kind: 'hold', name: 'wire' } },
    ]);
    await edit(namespace, 'stale');
    const held = await leader.proxy.holding('wire');
    const lastRenewal = renewals(leader.proxy).at(-1);
    leader.operator.pause();
    await edit(namespace, 'newest');
    await eventually(async () => (await says(namespace)) === 'newest', {
      within: 25_000,
      what: 'the new leader writes',
    });
    await ready(rig, namespace, 'led');
    const configBefore = await rig.admin.get(ConfigMap, { namespace, name: 'led-config' });
    const trioBefore = await rig.admin.get(Trio, { namespace, name: 'led' });

    leader.operator.resume();
    leader.proxy.release('wire');
    await eventually(() => held.answer, { what: 'the write on the wire is answered' });
    await pause(3_000);
    equal(held.answer?.status, 409, 'it was refused by its preconditions');
    deepEqual((await rig.admin.get(ConfigMap, { namespace, name: 'led-config' })).metadata, configBefore.metadata);
    deepEqual((await rig.admin.get(Trio, { namespace, name: 'led' })).metadata, trioBefore.metadata);
    const end = (lastRenewal?.at ?? 0) + renewDeadline;
    deepEqual(
      work(leader.proxy).filter(({ at }) => at > end),
      [],
      'no write began after the renew deadline',
    );
    ok(work(standby.proxy).length > 0);
    equal(await leader.operator.metric('baton_leader'), 0, 'it knows that it does not lead');
    await close();
  });
});
