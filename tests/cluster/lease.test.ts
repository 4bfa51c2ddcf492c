// Leader election on the real API server: candidates in this process and in processes of their own, each with no more
// rights than the Lease needs. Most stories run with short times; what is promised in seconds runs with the real ones.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { makeLog, systemClock } from '../../src/base/index.ts';
import { type ApiError, Client, Election, type LeaseTimes, loadKubeconfig, NotLeading } from '../../src/kube/index.ts';
import { ConfigMap, Lease } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';

const namespace = 'default';
const short = { lease: 6_000, renewDeadline: 4_000, renew: 500, retry: 250 };
const rules = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
];

let plane: ControlPlane;
let admin: Client;
let kubeconfig: string;
const opened: { election?: Election; client: Client }[] = [];
const children: ChildProcess[] = [];

before(async () => {
  plane = await startControlPlane({ controllers: 'none' });
  admin = new Client({ cluster: loadKubeconfig(plane.kubeconfigPath), clock: systemClock });
  kubeconfig = await anAccount('operator');
  await permit('operator');
});

after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(opened.map(async ({ election }) => election?.stop()));
  await Promise.all([...opened.map(({ client }) => client.close()), admin?.close()]);
  await plane?.stop();
});

/** A ServiceAccount without any right, as a kubeconfig. */
async function anAccount(name: string): Promise<string> {
  await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } });
  const path = join(plane.folder, `${name}.kubeconfig`);
  const ca = Buffer.from(plane.caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: plane.url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token: await plane.token(namespace, name) } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(path, stringify(config));
  return path;
}

async function permit(name: string): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const metadata = { namespace, name };
  await apply({ apiVersion: `${group}/v1`, kind: 'Role', metadata, rules });
  const subjects = [{ kind: 'ServiceAccount', namespace, name }];
  const roleRef = { apiGroup: group, kind: 'Role', name };
  await apply({ apiVersion: `${group}/v1`, kind: 'RoleBinding', metadata, subjects, roleRef });
}

async function apply(object: object): Promise<void> {
  const { code, stderr } = await plane.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(object) });
  assert.equal(code, 0, stderr);
}

interface Options {
  times?: Partial<LeaseTimes>;
  account?: string;
}

function aClient(account: string, fence?: () => Error | undefined) {
  const requests: string[] = [];
  const onRequest = ({ verb }: { verb: string }) => requests.push(verb);
  const cluster = loadKubeconfig(account);
  const client = new Client({ cluster, clock: systemClock, onRequest, ...(fence && { fence }) });
  return { client, requests };
}

/** A candidate in this process that stands for the lease `name`. */
function aCandidate(name: string, identity: string, { times = short, account = kubeconfig }: Options = {}) {
  const { client, requests } = aClient(account);
  const events: string[] = [];
  const said: string[] = [];
  const election = new Election({
    client,
    clock: systemClock,
    log: makeLog({ level: 'info', format: 'text', now: Date.now, write: (line) => said.push(line) }),
    identity,
    namespace,
    name,
    times,
    onStart: () => events.push('start'),
    onStop: (why) => events.push(why),
  });
  election.start();
  opened.push({ election, client });
  return { election, client, requests, events, said };
}

const leads = (candidate: { election: Election }, within = 5_000) =>
  eventually(() => candidate.election.mayWrite(), { within, every: 5, what: 'leading' });
const leaseOf = (name: string) => admin.get(Lease, { namespace, name });

/** Two candidates, of which the first leads. */
async function aPair(name: string, times: Partial<LeaseTimes> = short) {
  const leader = aCandidate(name, 'first', { times });
  await leads(leader);
  const standby = aCandidate(name, 'second', { times });
  await eventually(() => standby.requests.length > 0, { what: 'a look of the standby' });
  return { leader, standby };
}

/** Lines of a log without the time at their beginning. */
const untimed = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/^\S+ /, '').trim());

describe('election', { concurrency: true }, () => {
  test('one of two leads, pitfall 16: and its lease is one that the API server takes', async () => {
    const { leader, standby } = await aPair('two');
    const { spec } = await leaseOf('two');
    assert.deepEqual([spec?.holderIdentity, spec?.leaseDurationSeconds, spec?.leaseTransitions], ['first', 6, 0]);
    for (const time of [spec?.acquireTime, spec?.renewTime]) assert.match(time ?? '', /T\d\d:\d\d:\d\d\.\d{6}Z$/);
    const end = performance.now() + 2 * short.lease;
    while (performance.now() < end) {
      assert.ok(!(leader.election.mayWrite() && standby.election.mayWrite()));
      await pause(5);
    }
    assert.deepEqual([leader.events, standby.events], [['start'], []]);
  });

  test('pitfall 15: a leader that stops lets the next one in within 2 s, says so and no more, and writes no more', async () => {
    const { leader, standby } = await aPair('stop', {});
    const begun = performance.now();
    await leader.election.stop();
    assert.deepEqual([leader.election.mayWrite(), leader.election.standing], [false, 'released']);
    await leads(standby, 10_000);
    const took = performance.now() - begun;
    assert.ok(took < 2_000, `it took ${took} ms`);
    assert.deepEqual(leader.events, ['start', 'this process stops']);
    const of = (identity: string) => `lease=default/stop identity=${identity}`;
    assert.deepEqual(untimed(leader.said), [
      `INFO  this process leads ${of('first')}`,
      `INFO  this process does not lead any more ${of('first')} why="this process stops"`,
    ]);
    assert.deepEqual(untimed(standby.said), [
      `INFO  another process leads, this one stands by ${of('second')} holder=first`,
      `INFO  this process leads ${of('second')}`,
    ]);
    const { spec } = await leaseOf('stop');
    assert.deepEqual([spec?.holderIdentity, spec?.leaseDurationSeconds, spec?.leaseTransitions], ['second', 15, 1]);
  });

  test('a killed leader is replaced within 20 s, and not before its time', async () => {
    const child = await aProcess('kill', {});
    const standby = aCandidate('kill', 'second', { times: {} });
    await eventually(() => standby.requests.length > 1, { what: 'a look of the standby' });
    const begun = performance.now();
    child.kill('SIGKILL');
    await leads(standby, 25_000);
    const took = performance.now() - begun;
    assert.ok(took > 10_000 && took < 20_000, `it took ${took} ms`);
  });

  test('pitfall 15: a leader that was stopped beyond its lease knows at once that it may not write', async () => {
    const child = await aProcess('freeze', short);
    const standby = aCandidate('freeze', 'second');
    await eventually(() => standby.requests.length > 1, { what: 'a look of the standby' });
    child.kill('SIGSTOP');
    const frozen = Date.now();
    await leads(standby, 10_000);
    const taken = Date.now();
    await pause(500);
    child.kill('SIGCONT');
    const last = await eventually(() => child.told[1], { what: 'word from the process that was stopped' });
    assert.equal(last.mayWrite, false);
    assert.ok(taken - frozen > short.renewDeadline, `taken after ${taken - frozen} ms`);
    await pause(2 * short.renew);
    assert.equal(child.told.length, 2);
    assert.ok(standby.election.mayWrite());
  });

  test('a steady leader costs one write every 2 s, a standby one read a second', async () => {
    const { leader, standby } = await aPair('cost', {});
    const [wrote, looked] = [leader.requests.length, standby.requests.length];
    await pause(10_000);
    assert.deepEqual(new Set(leader.requests.slice(wrote)), new Set(['update']));
    assert.deepEqual(new Set(standby.requests.slice(looked)), new Set(['get']));
    assert.ok(leader.requests.length - wrote <= 6, `${leader.requests.length - wrote} writes`);
    assert.ok(standby.requests.length - looked <= 11, `${standby.requests.length - looked} reads`);
  });

  test('a leader whose lease is given to somebody else stops with its next renewal, and does not take it back', async () => {
    const leader = aCandidate('taken', 'first');
    await leads(leader);
    await plane.kubectl(['patch', 'lease', 'taken', '--type=merge', '-p', '{"spec":{"holderIdentity":"stranger"}}']);
    await eventually(() => !leader.election.mayWrite(), { within: 2 * short.renew + 500, every: 5 });
    await pause(short.renew);
    assert.equal((await leaseOf('taken')).spec?.holderIdentity, 'stranger');
    assert.deepEqual(leader.events, ['start', 'somebody else wrote the lease']);
    await leads(leader, 2 * short.lease);
    assert.equal((await leaseOf('taken')).spec?.leaseTransitions, 1);
  });

  test('a deleted lease ends the term, and a new one begins', async () => {
    const leader = aCandidate('deleted', 'first');
    await leads(leader);
    await admin.delete(Lease, { namespace, name: 'deleted' });
    await eventually(() => leader.events.length === 3, { what: 'a second term' });
    assert.deepEqual(leader.events, ['start', 'somebody else wrote the lease', 'start']);
  });

  test('a candidate without permission says so once, and leads when it gets it', async () => {
    const account = await anAccount('stranger');
    const candidate = aCandidate('forbidden', 'first', { account });
    await eventually(() => candidate.requests.length > 3, { what: 'several tries' });
    assert.equal((candidate.election.problem as ApiError).status, 403);
    assert.equal(candidate.said.length, 1, candidate.said.join(''));
    await permit('stranger');
    await leads(candidate, 15_000);
    assert.equal(candidate.election.problem, undefined);
  });

  test('the fence holds back what a standby would write, and lets the leader write', async () => {
    const { leader, standby } = await aPair('fence');
    const write = async ({ election }: { election: Election }, name: string) => {
      const { client, requests } = aClient(kubeconfig, election.fence);
      opened.push({ client });
      await client.create(
        ConfigMap,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } },
        { manager: 'test' },
      );
      return requests;
    };
    await write(leader, 'by-the-leader');
    await assert.rejects(write(standby, 'by-the-standby'), (error: Error) =>
      [error, error.cause].some((one) => one instanceof NotLeading),
    );
    await assert.rejects(admin.get(ConfigMap, { namespace, name: 'by-the-standby' }), { status: 404 });
  });
});

test('an API server that hangs ends the term on time, though a renewal is on its way; then somebody leads again', async () => {
  const { leader, standby } = await aPair('hang');
  plane.pauseApiServer();
  await pause(short.renewDeadline);
  assert.equal(leader.election.mayWrite(), false);
  await eventually(() => leader.events.length === 2, { what: 'the end of the term' });
  plane.resumeApiServer();
  await eventually(() => leader.election.mayWrite() || standby.election.mayWrite(), { within: 15_000 });
  assert.ok(!(leader.election.mayWrite() && standby.election.mayWrite()));
});

/** A candidate as a process, once it leads. */
async function aProcess(name: string, times: Partial<LeaseTimes>) {
  const script = join(import.meta.dirname, 'lease-candidate.ts');
  const child = spawn(process.execPath, [script, kubeconfig, name, 'first', JSON.stringify(times)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const told: { mayWrite: boolean; at: number }[] = [];
  createInterface(child.stdout).on('line', (line) => told.push(JSON.parse(line) as (typeof told)[number]));
  await eventually(() => told.length > 0, { what: 'the first term of the process' });
  return { told, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}
