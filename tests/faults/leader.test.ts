// Two operators and one Lease, each behind a proxy of its own, so that every write has a name. What the Lease cannot
// promise (a process that was stopped between its look at the clock and its write) the preconditions of the writes must.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Call, type CallFilter, type FaultProxy, startFaultProxy } from '../../controlplane/faults/index.ts';
import { ConfigMap, Deployment, Job, type Kind } from '../../src/objects/index.ts';
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
async function two(t: TestContext, namespace: string): Promise<{ leader: Candidate; standby: Candidate }> {
  const lease = { namespace: home, name: `lease-${++leases}` };
  const leader = await candidate(t, namespace, lease);
  await eventually(async () => (await leader.operator.metric('baton_leader')) === 1, { what: 'the first one leads' });
  const standby = await candidate(t, namespace, lease);
  await eventually(async () => (await standby.operator.probe('/readyz')).status === 200, {
    what: 'the second one stands by',
  });
  return { leader, standby };
}

async function candidate(
  t: TestContext,
  namespace: string,
  lease: { namespace: string; name: string },
): Promise<Candidate> {
  const { plane } = rig;
  const proxy = await startFaultProxy({ upstream: { url: plane.url, caPem: plane.caPem } });
  const kubeconfig = join(plane.folder, `candidate-${new URL(proxy.url).port}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig(await plane.token(home, account)));
  const own = { kubeconfig, outside: rig.outside, controller: 'plain', namespaces: [namespace], lease } as const;
  const operator = await startProcess(plane.folder, { ...own, namespaces: [namespace] });
  t.after(async () => {
    if (operator.alive()) await operator.kill();
    await proxy.stop();
  });
  return { operator, proxy };
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

// Alone: others that start meanwhile would eat up its two seconds.
test('the leader is stopped gracefully: the other one writes within 2 s', async (t) => {
  const namespace = await rig.namespace();
  const { leader, standby } = await two(t, namespace);
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
});

describe('two operators', { concurrency: 4 }, () => {
  test('the leader is killed: the other one writes within 20 s', async (t) => {
    const namespace = await rig.namespace();
    const { leader, standby } = await two(t, namespace);
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
  });

  test('pitfall 15: the leader is paused beyond its lease and resumed: it begins no write, and one on the wire changes nothing', async (t) => {
    const namespace = await rig.namespace();
    const { leader, standby } = await two(t, namespace);
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
  });

  test('pitfall 15: the leader is paused in the middle of a pass: the rest of the pass is not written', async (t) => {
    const namespace = await rig.namespace();
    const { leader, standby } = await two(t, namespace);
    await ledTrio(namespace);
    const editBoth = (text: string) =>
      rig.admin.patch(
        Trio,
        { namespace, name: 'led' },
        { spec: { text, env: [{ name: 'A', value: text }] } },
        { type: 'merge', manager: 'user' },
      );
    await editBoth('second');
    await ready(rig, namespace, 'led');
    // It is stopped while the answer to its first write is on the way: when it wakes up, it finds that and goes on.
    const write = { verb: 'apply', resource: 'configmaps' };
    leader.proxy.setPlan([{ when: { write }, do: { kind: 'hold', name: 'answer', at: 'answer' } }]);
    await editBoth('third');
    await leader.proxy.holding('answer');
    leader.operator.pause();
    leader.proxy.release('answer');
    await ready(rig, namespace, 'led');
    ok(work(standby.proxy).some(({ resource }) => resource === 'deployments'));
    const done = work(leader.proxy).length;
    leader.operator.resume();
    await eventually(async () => (await leader.operator.metric('baton_leader')) === 0, { what: 'it has lost' });
    await pause(3_000);
    deepEqual(work(leader.proxy).slice(done), []);
  });

  test('writes of every kind that were on the wire while the other one took over: none changes anything', async (t) => {
    const namespace = await rig.namespace();
    const { leader, standby } = await two(t, namespace);
    const make = (name: string, spec: object) => rig.apply(Trio, { metadata: { namespace, name }, spec });
    const plain = { text: 'first', withJob: false };
    for (const name of ['applied', 'told']) await make(name, plain);
    for (const name of ['applied', 'told']) await ready(rig, namespace, name);
    leader.proxy.setPlan(wires.map(([hold, write]) => ({ when: { write }, do: { kind: 'hold', name: hold } })));
    await make('created', plain);
    await make('deleted', { text: 'first' });
    for (const name of ['applied', 'told']) await make(name, { ...plain, text: 'stale' });
    const held = await Promise.all(wires.map(([hold]) => leader.proxy.holding(hold)));
    leader.operator.pause();

    for (const name of ['applied', 'told', 'created']) await make(name, { ...plain, text: 'newest' });
    for (const name of ['applied', 'told', 'created', 'deleted']) await ready(rig, namespace, name);
    await eventually(async () => (await rig.list(Job, namespace)).length === 0, { what: 'the Job is deleted' });
    const stranger = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'x', image: 'x' }] } } };
    await rig.apply(Job, { metadata: { namespace, name: 'deleted-job' }, spec: { ...stranger, suspend: true } });
    await pause(1_500);
    const earlier = await versions(namespace);

    leader.operator.resume();
    for (const [hold] of wires) leader.proxy.release(hold);
    await eventually(() => held.every(({ answer }) => answer), { what: 'all are answered' });
    await pause(3_000);
    deepEqual(
      held.map(({ answer }) => answer?.status),
      [409, 409, 409, 409],
    );
    deepEqual(await versions(namespace), earlier);
    ok(work(standby.proxy).length > 0);
  });
});

/** One write of each kind, each of another object, so that all four are under way at once. */
const wires: [hold: string, write: CallFilter][] = [
  ['create', { verb: 'create', name: 'created-config' }],
  ['apply', { verb: 'apply', name: 'applied-config' }],
  ['status', { verb: 'apply', subresource: 'status', name: 'told' }],
  ['delete', { verb: 'delete', name: 'deleted-job' }],
];

/** What every object of the namespace is now, in one word. */
async function versions(namespace: string): Promise<Record<string, string | undefined>> {
  const objects = await Promise.all([Trio, ConfigMap, Deployment, Job].map((kind: Kind) => rig.list(kind, namespace)));
  return Object.fromEntries(
    objects.flat().map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.resourceVersion]),
  );
}
