// What the real controllers make of simulated pods: Deployments, Jobs, claims, and what is left of them.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { eventually } from './controlplane-waiting.ts';

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane({ nodes: 2, kinds: join(import.meta.dirname, '../kit/trio/deploy/crds') });
});
after(() => plane.stop());

interface Seen {
  items?: Seen[];
  metadata: { name: string; uid: string };
  spec: { hostPath?: { path: string } };
  status: {
    phase?: string;
    availableReplicas?: number;
    succeeded?: number;
    failed?: number;
    conditions?: { type: string; status: string; reason?: string }[];
  };
}

const get = async (path: string): Promise<Seen> => (await plane.request({ path })).body as Seen;
const post = async (path: string, body: object): Promise<void> => {
  const { status, body: answer } = await plane.request({ method: 'POST', path, body });
  assert.equal(status, 201, JSON.stringify(answer));
};
const holds = ({ status }: Seen, type: string) =>
  status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

const template = (notes: Record<string, string>, spec: object) => ({
  metadata: {
    labels: { app: 'it' },
    annotations: Object.fromEntries(Object.entries(notes).map(([name, value]) => [`sim.baton.dev/${name}`, value])),
  },
  spec: { containers: [{ name: 'main', image: 'registry.test/main:1' }], ...spec },
});

const jobs = '/apis/batch/v1/namespaces/default/jobs';
const job = (name: string, spec: object, notes: Record<string, string>, restartPolicy: string) => ({
  metadata: { name },
  spec: { ...spec, template: template(notes, { restartPolicy }) },
});

test('the nodes are ready and say which version they play', async () => {
  const { stdout } = await plane.kubectl(['get', 'nodes', '--no-headers']);
  assert.match(stdout, /^node-1 +Ready .*v1\.\d+\.\d+\nnode-2 +Ready/);
});

test('what belongs to an object of a kind of ours goes with it, at once', async () => {
  const trios = '/apis/test.baton.dev/v1alpha1/namespaces/default/trios';
  const maps = '/api/v1/namespaces/default/configmaps';
  const [apiVersion, kind, name] = ['test.baton.dev/v1alpha1', 'Trio', 'owner'];
  await post(trios, { apiVersion, kind, metadata: { name }, spec: { text: 'hello' } });
  const { uid } = (await get(`${trios}/${name}`)).metadata;
  await post(maps, { metadata: { name: 'owned', ownerReferences: [{ apiVersion, kind, name, uid }] } });
  await plane.request({ method: 'DELETE', path: `${trios}/${name}` });
  const gone = async () => (await plane.request({ path: `${maps}/owned` })).status === 404;
  await eventually(gone, (it) => it, 10_000);
});

test('a Deployment becomes available, and goes with its pods', async () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const selector = { matchLabels: { app: 'it' } };
  await post(deployments, { metadata: { name: 'web' }, spec: { replicas: 3, selector, template: template({}, {}) } });
  const ready = await eventually(
    () => get(`${deployments}/web`),
    (seen) => seen.status.availableReplicas === 3,
  );
  assert.ok(holds(ready, 'Available'));
  await plane.kubectl(['delete', 'deployment', 'web', '--cascade=foreground', '--wait']);
  assert.deepEqual((await get('/api/v1/namespaces/default/pods?labelSelector=app%3Dit')).items, []);
});

for (const policy of ['Never', 'OnFailure']) {
  test(`a Job whose pods say ${policy} completes`, async () => {
    const name = `good-${policy.toLowerCase()}`;
    await post(jobs, job(name, { completions: 2, parallelism: 2 }, {}, policy));
    const seen = await eventually(
      () => get(`${jobs}/${name}`),
      (one) => holds(one, 'Complete'),
    );
    assert.equal(seen.status.succeeded, 2);
  });

  test(`a Job whose pods say ${policy} and end with an exit code fails after its retries`, async () => {
    const name = `bad-${policy.toLowerCase()}`;
    const notes = { 'exit-code': '3', message: 'no data', 'restart-delay': '300ms' };
    await post(jobs, job(name, { backoffLimit: policy === 'Never' ? 0 : 1 }, notes, policy));
    const seen = await eventually(
      () => get(`${jobs}/${name}`),
      (one) => holds(one, 'Failed'),
      40_000,
    );
    assert.equal(seen.status.conditions?.find(({ type }) => type === 'Failed')?.reason, 'BackoffLimitExceeded');
  });
}

test('a running pod of a Job that is deleted is replaced, and the Job still completes', async () => {
  await post(jobs, job('disturbed', {}, { 'run-for': '2s' }, 'Never'));
  const list = () => get('/api/v1/namespaces/default/pods?labelSelector=job-name%3Ddisturbed');
  const { items } = await eventually(list, (seen) => seen.items?.[0]?.status.phase === 'Running');
  await plane.kubectl(['delete', 'pod', items?.[0]?.metadata.name ?? '']);
  const seen = await eventually(
    () => get(`${jobs}/disturbed`),
    (one) => holds(one, 'Complete'),
  );
  assert.deepEqual({ succeeded: 1, failed: 1 }, { succeeded: seen.status.succeeded, failed: seen.status.failed });
});

test('a claim binds to a volume of the default class, whose directory does not outlive the control plane', async () => {
  await using own = await startControlPlane();
  const body = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const path = '/api/v1/namespaces/default/persistentvolumeclaims';
  assert.equal((await own.request({ method: 'POST', path, body })).status, 201);
  await eventually(
    async () => (await own.request({ path: `${path}/data` })).body as Seen,
    (claim) => claim.status.phase === 'Bound',
  );
  const { items } = (await own.request({ path: '/api/v1/persistentvolumes' })).body as Seen;
  const directory = items?.[0]?.spec.hostPath?.path ?? '';
  assert.ok(existsSync(directory), directory);
  await own.stop();
  assert.equal(existsSync(directory), false);
});
