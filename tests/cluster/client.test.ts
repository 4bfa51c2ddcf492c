// The client on a real API server: every verb, every kind of answer, and the credentials that a cluster hands out.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { ApiError, Client, type ClusterAccess, inCluster, loadKubeconfig, readerOf } from '../../src/kube/index.ts';
import { ConfigMap, Deployment, kindOf, type KubeObject, Namespace } from '../../src/objects/index.ts';

const manager = 'client-test';
const namespace = 'client';
const ServiceAccount = kindOf('v1', 'ServiceAccount', 'serviceaccounts');
const rbac = 'rbac.authorization.k8s.io';
const Role = kindOf<KubeObject & { rules: unknown }>(`${rbac}/v1`, 'Role', 'roles');
const RoleBinding = kindOf<KubeObject & { roleRef: unknown; subjects: unknown }>(
  `${rbac}/v1`,
  'RoleBinding',
  'rolebindings',
);

let plane: ControlPlane;
let admin: Client;
const clients: Client[] = [];

function clientFor(cluster: ClusterAccess): Client {
  const client = new Client({ cluster, clock: systemClock });
  clients.push(client);
  return client;
}

before(async () => {
  plane = await startControlPlane({ controllers: 'none' });
  admin = clientFor(loadKubeconfig(plane.kubeconfigPath));
  await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, { manager });
});
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await plane.stop();
});

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});
const deployment = (name: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'image:1' }] } },
  },
});

/** The error that a promise must end with. */
async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  const [result] = await Promise.allSettled([promise]);
  assert.ok(result.status === 'rejected' && result.reason instanceof ApiError, JSON.stringify(result));
  return result.reason;
}

/** Reads events until there are enough, then stops. */
async function events(from: string, count: number, options: { metadataOnly?: boolean } = {}, query = {}) {
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(20_000)]);
  const seen: { type: string; object: ConfigMap }[] = [];
  const onLine = (text: string) => {
    seen.push(JSON.parse(text) as (typeof seen)[number]);
    if (seen.length === count) enough.abort();
  };
  const watch = admin.watch(
    ConfigMap,
    namespace,
    { resourceVersion: from, ...query },
    { onLine },
    { signal, ...options },
  );
  assert.equal((await refusal(watch)).reason, 'Aborted');
  assert.equal(seen.length, count);
  return seen;
}

describe('verbs', () => {
  test('create, get, update, delete: the life of an object', async () => {
    const made = await admin.create(ConfigMap, configMap('life', { a: '1' }), { manager });
    const ref = { namespace, name: 'life' };
    assert.deepEqual(await admin.get(ConfigMap, ref), made);
    const updated = await admin.update(ConfigMap, { ...made, data: { a: '2' } }, { manager });
    assert.equal(updated.data?.['a'], '2');
    const stale = await refusal(admin.update(ConfigMap, { ...made, data: { a: '3' } }, { manager }));
    assert.deepEqual([stale.status, stale.reason], [409, 'Conflict']);
    assert.match(stale.message, /^cannot update ConfigMap client\/life: 409 Conflict: Operation cannot be fulfilled/);
    const again = await refusal(admin.create(ConfigMap, configMap('life'), { manager }));
    assert.deepEqual([again.status, again.reason], [409, 'AlreadyExists']);

    const { uid = '', resourceVersion = '' } = updated.metadata;
    const stranger = await refusal(admin.delete(ConfigMap, ref, { uid: 'another', resourceVersion }));
    const changed = await refusal(
      admin.delete(ConfigMap, ref, { uid, resourceVersion: made.metadata.resourceVersion ?? '' }),
    );
    assert.deepEqual([stranger.status, changed.status], [409, 409]);
    assert.equal(await admin.delete(ConfigMap, ref, { uid, resourceVersion }), undefined);
    const gone = await refusal(admin.get(ConfigMap, ref));
    assert.deepEqual([gone.status, gone.reason, gone.verb], [404, 'NotFound', 'get']);
    assert.equal((await refusal(admin.delete(ConfigMap, ref))).status, 404);
  });

  test('an object with a finalizer is still leaving after its delete', async () => {
    const finalizers = ['baton.dev/test'];
    const held = configMap('held');
    const made = await admin.create(ConfigMap, { ...held, metadata: { ...held.metadata, finalizers } }, { manager });
    const { uid = '', resourceVersion = '' } = made.metadata;
    const leaving = await admin.delete(ConfigMap, made.metadata, { uid, resourceVersion, propagation: 'Background' });
    assert.ok(leaving?.metadata.deletionTimestamp);
    await admin.patch(ConfigMap, made.metadata, { metadata: { finalizers: null } }, { type: 'merge', manager });
    assert.equal((await refusal(admin.get(ConfigMap, made.metadata))).status, 404);
  });

  test('apply creates, changes, takes away what it no longer names, and respects others unless told', async () => {
    const first = await admin.apply(ConfigMap, configMap('applied', { a: '1', b: '1' }), { manager });
    assert.deepEqual(first.data, { a: '1', b: '1' });
    const second = await admin.apply(ConfigMap, configMap('applied', { a: '2' }), { manager });
    assert.deepEqual(second.data, { a: '2' });
    const polite = { manager: 'somebody', force: false };
    const conflict = await refusal(admin.apply(ConfigMap, configMap('applied', { a: '3' }), polite));
    assert.deepEqual([conflict.status, conflict.reason, conflict.causes[0]?.field], [409, 'Conflict', '.data.a']);
    const taken = await admin.apply(ConfigMap, configMap('applied', { a: '3' }), { manager: 'somebody' });
    assert.deepEqual(taken.data, { a: '3' });
    const other = configMap('applied', { a: '4' });
    const wrong = { ...other, metadata: { ...other.metadata, uid: 'another' } };
    assert.ok([409, 422].includes((await refusal(admin.apply(ConfigMap, wrong, { manager }))).status));
  });

  test('patches: JSON with a test that fails changes nothing; a subresource is its own', async () => {
    const made = await admin.create(Deployment, deployment('patched'), { manager });
    const label = { op: 'add', path: '/metadata/labels', value: { a: 'b' } };
    const patched = await admin.patch(Deployment, made.metadata, [label], { type: 'json', manager });
    assert.deepEqual(patched.metadata.labels, { a: 'b' });
    const guard = { op: 'test', path: '/metadata/uid', value: 'another' };
    const refused = await refusal(admin.patch(Deployment, made.metadata, [guard, label], { type: 'json' }));
    assert.deepEqual([refused.status, refused.reason], [422, 'Invalid']);

    const status = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: made.metadata, status: { replicas: 3 } };
    const { name } = made.metadata;
    const applied = { ...status, metadata: { name, namespace } };
    const answered = await admin.apply(Deployment, applied, { manager: 'status', subresource: 'status' });
    assert.equal(answered.status?.replicas, 3);
    const merged = { status: { replicas: 4 } };
    const patchStatus = { type: 'merge', subresource: 'status' } as const;
    assert.equal((await admin.patch(Deployment, made.metadata, merged, patchStatus)).status?.replicas, 4);
    const updated = await admin.update(
      Deployment,
      { ...answered, metadata: { name, namespace }, status: { replicas: 5 } },
      { subresource: 'status' },
    );
    assert.equal(updated.status?.replicas, 5);
    assert.equal(updated.spec.replicas, 0);
  });

  test('lists come in pages, with the kind on every item, whole or as metadata only', async () => {
    const labels = { list: 'yes' };
    for (const name of ['page-1', 'page-2', 'page-3']) {
      const one = configMap(name, { a: 'b' });
      await admin.create(ConfigMap, { ...one, metadata: { ...one.metadata, labels } }, { manager });
    }
    const query = { labelSelector: 'list=yes' };
    const first = await admin.list(ConfigMap, namespace, { ...query, limit: '2' });
    assert.equal(first.items.length, 2);
    const rest = await admin.list(ConfigMap, namespace, { ...query, limit: '2', continue: first.continue ?? '' });
    assert.deepEqual([rest.items.length, rest.continue], [1, undefined]);
    assert.ok(
      [...first.items, ...rest.items].every(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'ConfigMap'),
    );
    assert.equal((await admin.list(ConfigMap, undefined, query)).items.length, 3);
    const partial = await admin.list(ConfigMap, namespace, query, { metadataOnly: true });
    assert.deepEqual(
      partial.items.map(({ kind, data, metadata }) => [kind, data, metadata.labels]),
      Array.from({ length: 3 }, () => ['ConfigMap', undefined, labels]),
    );
    const text = await admin.listText(ConfigMap, namespace, query);
    assert.equal((JSON.parse(text) as { items: unknown[] }).items.length, 3);
    assert.equal((await readerOf(admin).list(ConfigMap, namespace, { ...query, limit: '1' })).length, 3);
  });

  test('a watch gives added, modified and deleted, and the initial events when it is asked for them', async () => {
    const { resourceVersion } = await admin.list(ConfigMap, namespace, {});
    const made = await admin.create(ConfigMap, configMap('watched', { greeting: 'grüße 🚲' }), { manager });
    const applied = await admin.apply(ConfigMap, configMap('watched', { greeting: 'second' }), { manager });
    const partly = events(resourceVersion, 2, { metadataOnly: true });
    await admin.delete(ConfigMap, made.metadata, { uid: made.metadata.uid ?? '' });
    const seen = await events(resourceVersion, 3);
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED'],
    );
    assert.deepEqual(seen[0]?.object, made);
    assert.deepEqual(seen[1]?.object, applied);
    assert.deepEqual(
      (await partly).map(({ object }) => [object.kind, object.data]),
      [
        ['PartialObjectMetadata', undefined],
        ['PartialObjectMetadata', undefined],
      ],
    );
    const listed = await admin.list(ConfigMap, namespace, {});
    const streamed = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
    const initial = await events('', listed.items.length + 1, {}, streamed);
    assert.equal(initial.at(-1)?.type, 'BOOKMARK');
  });

  test('a watch that the server ends by its own timeout resolves', async () => {
    const { signal } = new AbortController();
    await admin.watch(ConfigMap, namespace, { timeoutSeconds: '1' }, { onLine: () => {} }, { signal });
  });

  test('what is asked beside the kinds: discovery, a review, a path that does not exist', async () => {
    const version = JSON.parse((await admin.raw('GET', '/version')).text) as { major: string };
    assert.equal(version.major, '1');
    const body = JSON.stringify({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'secrets', namespace } },
    });
    const review = await admin.raw('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { body });
    assert.equal((JSON.parse(review.text) as { status: { allowed: boolean } }).status.allowed, true);
    const missing = await refusal(admin.raw('GET', '/apis/nobody.example/v1/things', { query: { limit: '1' } }));
    assert.deepEqual(
      [missing.status, missing.message],
      [404, 'cannot get /apis/nobody.example/v1/things: 404 NotFound: 404 page not found'],
    );
  });

  test('the reader: a missing object is no error, a missing log is', async () => {
    const reader = readerOf(admin);
    assert.equal(await reader.get(ConfigMap, namespace, 'nobody'), undefined);
    assert.equal((await refusal(reader.podLog(namespace, 'nobody', { tailLines: '1' }))).status, 404);
  });
});

describe('objects are what the server sent', () => {
  test('pitfall 5: fields that our types do not know survive a read and a write', async () => {
    const made = deployment('unknown');
    const spread = [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }];
    made.spec.template.spec['topologySpreadConstraints'] = spread;
    made.spec['minReadySeconds'] = 7;
    await admin.create(Deployment, made, { manager });
    const read = await admin.get(Deployment, { namespace, name: 'unknown' });
    const written = await admin.update(Deployment, { ...read, metadata: { ...read.metadata, labels: { a: 'b' } } });
    assert.deepEqual(written.spec, read.spec);
    assert.deepEqual(written.spec.template.spec['topologySpreadConstraints'], spread);
    assert.equal(written.spec['minReadySeconds'], 7);
  });

  test('pitfall 6: a time is the same string in a get, in a list and in a watch', async () => {
    const { resourceVersion } = await admin.list(ConfigMap, namespace, {});
    const made = await admin.create(ConfigMap, configMap('timed'), { manager });
    const listed = await admin.list(ConfigMap, namespace, { fieldSelector: 'metadata.name=timed' });
    const [watched] = await events(resourceVersion, 1);
    const times = [made, listed.items[0], watched?.object].map((object) => object?.metadata.creationTimestamp);
    assert.match(times[0] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(new Set(times).size, 1);
  });

  test('a refused object says which field and why', async () => {
    const wrong = deployment('wrong');
    wrong.spec.replicas = -1;
    wrong.spec.template.spec.containers = [{ name: 'UPPER', image: 'i' }];
    const error = await refusal(admin.create(Deployment, wrong, { manager }));
    assert.deepEqual([error.status, error.reason], [422, 'Invalid']);
    assert.deepEqual(
      error.causes.map(({ field, reason }) => [field, reason]),
      [
        ['spec.replicas', 'FieldValueInvalid'],
        ['spec.template.spec.containers[0].name', 'FieldValueInvalid'],
      ],
    );
    assert.doesNotMatch(error.message, /\n/);
  });
});

describe('credentials', () => {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader', namespace } };
  let token: string;

  before(async () => {
    await admin.create(ServiceAccount, account, { manager });
    token = await plane.token(namespace, 'reader');
  });

  const folderWith = (name: string, secret: string): string => {
    const folder = join(plane.folder, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'ca.crt'), plane.caPem);
    writeFileSync(join(folder, 'token'), secret);
    return folder;
  };
  const withToken = (secret: string) =>
    clientFor(
      inCluster({ host: '127.0.0.1', port: new URL(plane.url).port, folder: folderWith(secret.slice(-8), secret) }),
    );

  test('a ServiceAccount is let in by its token, and may do what its roles say', async () => {
    const client = withToken(token);
    const refused = await refusal(client.list(ConfigMap, namespace, {}));
    assert.deepEqual([refused.status, refused.reason], [403, 'Forbidden']);
    assert.match(refused.message, /"system:serviceaccount:client:reader" cannot list resource "configmaps"/);
    const meta = { apiVersion: `${rbac}/v1`, metadata: { name: 'reader', namespace } };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    const subjects = [{ kind: 'ServiceAccount', name: 'reader', namespace }];
    const roleRef = { apiGroup: rbac, kind: 'Role', name: 'reader' };
    await admin.create(Role, { ...meta, kind: 'Role', rules }, { manager });
    await admin.create(RoleBinding, { ...meta, kind: 'RoleBinding', roleRef, subjects }, { manager });
    const allowed = async (): Promise<boolean> => {
      const [listed] = await Promise.allSettled([client.list(ConfigMap, namespace, {})]);
      return listed.status === 'fulfilled';
    };
    for (let tries = 0; !(await allowed()); tries += 1) {
      assert.ok(tries < 100, 'the binding has no effect');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal((await refusal(client.create(ConfigMap, configMap('no'), { manager }))).status, 403);
  });

  test('a token that nobody knows is refused, and does not show in the message', async () => {
    const error = await refusal(withToken('not-a-real-token').get(ConfigMap, { namespace, name: 'x' }));
    assert.deepEqual([error.status, error.reason], [401, 'Unauthorized']);
    assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /not-a-real-token/);
  });

  test('a token replaced in its file is taken up at the first refusal', async () => {
    const folder = folderWith('rotated', 'worn-out');
    const client = clientFor(inCluster({ host: '127.0.0.1', port: new URL(plane.url).port, folder }));
    assert.equal((await refusal(client.raw('GET', '/api'))).status, 401);
    writeFileSync(join(folder, 'token'), `${token}\n`);
    assert.equal((await client.raw('GET', '/api')).status, 200);
  });

  test('certificates in a kubeconfig that names files; acting as somebody else', async () => {
    const folder = folderWith('files', token);
    writeFileSync(join(folder, 'client.crt'), plane.admin.certificate);
    writeFileSync(join(folder, 'client.key'), plane.admin.key);
    const path = join(folder, 'config');
    const write = (user: Record<string, unknown>) =>
      writeFileSync(
        path,
        JSON.stringify({
          'current-context': 'x',
          contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
          clusters: [{ name: 'x', cluster: { server: plane.url, 'certificate-authority': 'ca.crt' } }],
          users: [{ name: 'x', user: { 'client-certificate': 'client.crt', 'client-key': 'client.key', ...user } }],
        }),
      );
    const whoAmI = async (): Promise<unknown> => {
      const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
      const client = clientFor(loadKubeconfig(path));
      const answer = await client.raw('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', { body });
      const { username, groups } = (
        JSON.parse(answer.text) as { status: { userInfo: { username: string; groups: string[] } } }
      ).status.userInfo;
      return [username, groups.includes('b,c'), groups.includes('system:masters')];
    };
    write({});
    assert.deepEqual(((await whoAmI()) as unknown[]).slice(1), [false, true]);
    write({ as: 'eve', 'as-groups': ['a', 'b,c'] });
    assert.deepEqual(await whoAmI(), ['eve', true, false]);
  });
});

test('the client outlives its API server', async () => {
  await plane.killApiServer();
  const error = await refusal(admin.get(Namespace, { name: namespace }));
  assert.deepEqual([error.status, error.reason], [0, 'Network']);
  await plane.startApiServer();
  assert.equal((await admin.get(Namespace, { name: namespace })).metadata.name, namespace);
});

test('an API server that stands still ends a request at its deadline, not later', async () => {
  plane.pauseApiServer();
  try {
    const error = await refusal(admin.get(Namespace, { name: namespace }, { deadline: 300 }));
    assert.equal(error.reason, 'Deadline');
  } finally {
    plane.resumeApiServer();
  }
  assert.equal((await admin.get(Namespace, { name: namespace })).metadata.name, namespace);
});
