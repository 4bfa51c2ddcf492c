// The troubles that a control plane can make on request: each is real, and each passes.

import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { eventually } from './controlplane-waiting.ts';

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane({ controllers: 'none' });
});
after(() => plane.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
const create = (name: string) =>
  plane.request({ method: 'POST', path: configMaps, body: { metadata: { name }, data: { text: name } } });

/** Who the API server takes the bearer of a token for. */
function whoIs(token: string): Promise<string> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(new URL(path, plane.url), { method: 'POST', ca: plane.caPem, headers }, (answer) => {
      answer.toArray().then((parts: Buffer[]) => resolve(Buffer.concat(parts).toString()), reject);
    });
    call.on('error', reject).end('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}');
  });
}

test('a token speaks for its ServiceAccount', async () => {
  const path = '/api/v1/namespaces/default/serviceaccounts';
  await plane.request({ method: 'POST', path, body: { metadata: { name: 'someone' } } });
  const token = await plane.token('default', 'someone');
  assert.match(await whoIs(token), /"username":"system:serviceaccount:default:someone"/);
  assert.match(await whoIs(`${token}x`), /Unauthorized/);
});

test('the API server comes back on its port with its data', async () => {
  assert.equal((await create('kept')).status, 201);
  const earlier = plane.pids['kube-apiserver'];
  await plane.restartApiServer();
  assert.notEqual(plane.pids['kube-apiserver'], earlier);
  assert.equal((await plane.request({ path: `${configMaps}/kept` })).status, 200);
});

test('a killed API server refuses connections until it is started', async () => {
  await plane.killApiServer();
  assert.equal(plane.pids['kube-apiserver'], undefined);
  await assert.rejects(plane.request({ path: '/readyz' }), { code: 'ECONNREFUSED' });
  await plane.startApiServer();
  assert.equal((await plane.request({ path: '/readyz' })).status, 200);
});

test('a paused API server takes a request and answers it when it goes on', async () => {
  plane.pauseApiServer();
  const answer = plane.request({ path: '/version' });
  assert.equal(await Promise.race([answer, sleep(700, 'silence')]), 'silence');
  plane.resumeApiServer();
  assert.equal((await answer).status, 200);
});

test('after a compaction an old resourceVersion is gone: 410 for a list and for a watch', async () => {
  const { body } = await create('old');
  const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata;
  await create('newer');
  await plane.compactEtcd();
  await plane.restartApiServer();
  const exact = `${configMaps}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  assert.equal((await plane.request({ path: exact })).status, 410);
  const watch = `${configMaps}?watch=1&timeoutSeconds=3&resourceVersion=${resourceVersion}`;
  const { status, body: stream } = await plane.request({ path: watch });
  assert.ok(status === 410 || JSON.stringify(stream).includes('410'), JSON.stringify({ status, stream }));
});

test('with a full quota reads and deletes work and writes are refused, until it is lifted', async () => {
  assert.equal((await create('before')).status, 201);
  await plane.fillEtcdQuota();
  const refused = await create('refused');
  assert.equal(refused.status, 500);
  assert.match(JSON.stringify(refused.body), /database space exceeded/);
  assert.equal((await plane.request({ path: `${configMaps}/before` })).status, 200);
  assert.equal((await plane.request({ method: 'DELETE', path: `${configMaps}/before` })).status, 200);
  await plane.freeEtcdQuota();
  await eventually(
    async () => (await create(`after-${performance.now()}`.replace('.', '-'))).status,
    (status) => status === 201,
  );
});

test('the log of a component can be read', () => {
  assert.match(plane.logTail('kube-apiserver', 200), /apiserver|Serving|controller/i);
  assert.equal(plane.logTail('kwok'), '');
});
