// A real node does what a node does: runs pods from an image that was pushed a moment ago, tells their logs, resolves
// names, carries Services, lends volumes to pods without rights, mounts images, and ends what takes too much memory.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { AwsV4Signer } from 'aws4fetch';
import { startFaultProxy } from '../../controlplane/faults/index.ts';
import { type RealCluster, skipReason, startRealCluster } from '../../controlplane/node/index.ts';
import { eventually } from '../kit/eventually.ts';
import {
  call,
  freshNamespace,
  isReady,
  logsOf,
  makeClaim,
  makePod,
  outcome,
  podWhen,
  push,
  pushProbe,
} from './pods.ts';

suite('a real node', { skip: await skipReason() }, () => {
  let cluster: RealCluster;
  let image: string;
  before(async () => {
    cluster = await startRealCluster({ s3: 'yes' });
    image = await pushProbe(cluster);
  });
  after(() => cluster?.stop());

  test('is ready, with the versions that are pinned', async () => {
    const { stdout } = await cluster.kubectl(['get', 'nodes', '-o', 'wide', '--no-headers']);
    assert.match(stdout, /^node-1\s+Ready\s.*\sv1\.\d+\.\d+\s.*containerd:\/\/2\.\d/);
  });

  test('runs a restricted pod from a pushed image and gives its logs', async () => {
    const namespace = await freshNamespace(cluster);
    assert.equal(await outcome(cluster, namespace, { name: 'says', does: ['say', 'one', 'two'], image }), 'one\ntwo');
  });

  test('refuses a pod that the namespace does not allow, and tells of an image that is not there', async () => {
    const namespace = await freshNamespace(cluster);
    const bare = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bare' },
      spec: { containers: [{ name: 'a', image }] },
    };
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { status, body } = await cluster.request({ method: 'POST', path, body: bare });
    assert.equal(status, 403);
    assert.match(JSON.stringify(body), /violates PodSecurity/);
    await makePod(cluster, namespace, { name: 'lost', does: ['wait'], image: `${cluster.registry}/tests/none:1` });
    const lost = await podWhen(cluster, namespace, 'lost', ({ status: is }) =>
      /^(ErrImagePull|ImagePullBackOff)$/.test(is.containerStatuses?.[0]?.state.waiting?.reason ?? ''),
    );
    assert.equal(lost.status.phase, 'Pending');
  });

  test('carries Services: by name, by its port on the node, and through the API server', async () => {
    const namespace = await freshNamespace(cluster);
    await makePod(cluster, namespace, { name: 'serves', does: ['serve', 'hello'], image, labels: { app: 'hello' } });
    const spec = { type: 'NodePort', selector: { app: 'hello' }, ports: [{ port: 80, targetPort: 8080 }] };
    const service = await call<{ spec: { clusterIP: string; ports: { nodePort: number }[] } }>(
      cluster,
      'POST',
      `/api/v1/namespaces/${namespace}/services`,
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hello' }, spec },
    );
    const pod = await podWhen(cluster, namespace, 'serves', isReady);
    const name = `hello.${namespace}.svc.cluster.local`;
    const resolved = await outcome(cluster, namespace, { name: 'resolves', does: ['resolve', name, 'hello'], image });
    assert.equal(resolved, `${name} ${service.spec.clusterIP}\nhello ${service.spec.clusterIP}`);
    assert.equal(
      await outcome(cluster, namespace, { name: 'asks', does: ['get', 'http://hello'], image }),
      'hello serves',
    );
    const text = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(5000) })).text();
    const onNode = `http://${cluster.nodes[0]?.address}:${service.spec.ports[0]?.nodePort}`;
    assert.equal(await eventually(() => text(onNode), { what: 'an answer on the node' }), 'hello serves\n');
    assert.equal(await text(`http://${pod.status.podIP}:8080`), 'hello serves\n');
    const proxied = await cluster.request({ path: `/api/v1/namespaces/${namespace}/services/hello/proxy/` });
    assert.deepEqual(proxied, { status: 200, body: 'hello serves\n' });
    const exec = await cluster.kubectl(['exec', '-n', namespace, 'serves', '--', '/probe', 'say', 'from within']);
    assert.equal(exec.stdout, 'from within\n', exec.stderr);
  });

  test('brings pods to the API server by its Service, and the test to it through the fault proxy', async () => {
    const namespace = await freshNamespace(cluster);
    const asks = { name: 'asks', does: ['get', 'https://kubernetes.default.svc/healthz'], image };
    await assert.rejects(outcome(cluster, namespace, asks), /certificate signed by unknown authority/);
    const proxy = await startFaultProxy({ upstream: { url: cluster.url, caPem: cluster.caPem } });
    try {
      const path = join(cluster.folder, 'proxied.kubeconfig');
      writeFileSync(path, proxy.kubeconfig(await cluster.token(namespace, 'default')));
      const { stderr, code } = await cluster.kubectl(['--kubeconfig', path, 'get', 'nodes']);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`system:serviceaccount:${namespace}:default" cannot list`));
    } finally {
      await proxy.stop();
    }
  });

  test('lets pods reach a server of the test by a name that the test gives, and nothing else out there', async () => {
    const namespace = await freshNamespace(cluster);
    const server = createServer((_, answer) => answer.end('from the test'));
    await new Promise<void>((resolve) => server.listen(0, cluster.machineAddress, resolve));
    try {
      const address = server.address();
      assert.ok(address && typeof address === 'object');
      cluster.giveNames({ 'weights.example': cluster.machineAddress });
      const url = `http://weights.example:${address.port}`;
      const asks = (attempt: number) => ({ name: `asks-${attempt}`, does: ['get', url], image });
      let attempt = 0;
      const said = await eventually(() => outcome(cluster, namespace, asks(++attempt)), { what: 'the name is known' });
      assert.equal(said, 'from the test');
      await assert.rejects(
        outcome(cluster, namespace, { name: 'lost', does: ['resolve', 'elsewhere.example'], image }),
        /no such host/,
      );
      await assert.rejects(
        outcome(cluster, namespace, { name: 'out', does: ['get', 'http://192.0.2.1'], image }),
        /unreachable|no route/,
      );
      const etcd = cluster.url.replace(/^https(.*):\d+$/, 'http$1:2379');
      assert.equal((await fetch(`${etcd}/health`, { signal: AbortSignal.timeout(5000) })).status, 200);
      await assert.rejects(
        outcome(cluster, namespace, { name: 'secrets', does: ['get', `${etcd}/health`], image }),
        /refused/,
      );
    } finally {
      server.close();
    }
  });

  test('lends a volume that a pod without rights writes and the next one reads, and takes it back', async () => {
    const namespace = await freshNamespace(cluster);
    const claim = await makeClaim(cluster, namespace, { storage: '10Mi' });
    const volumes = [{ at: '/data', volume: claim }];
    await outcome(cluster, namespace, { name: 'writes', does: ['write', '/data/file', 'kept'], image, volumes });
    assert.equal(
      await outcome(cluster, namespace, { name: 'reads', does: ['read', '/data/file'], image, volumes }),
      'kept',
    );
    await call(cluster, 'DELETE', `/api/v1/namespaces/${namespace}/pods`);
    await call(cluster, 'DELETE', `/api/v1/namespaces/${namespace}/persistentvolumeclaims/data`);
    const left = () => call<{ items: unknown[] }>(cluster, 'GET', '/api/v1/persistentvolumes');
    await eventually(async () => (await left()).items.length === 0, { what: 'the volume is gone' });
  });

  test('lends a volume that is full when it holds what was asked for', async () => {
    const namespace = await freshNamespace(cluster);
    const claim = await makeClaim(cluster, namespace, { storage: '64Ki', storageClassName: 'limited' });
    const volumes = [{ at: '/data', volume: claim }];
    const writes = (name: string, size: number) =>
      outcome(cluster, namespace, { name, does: ['write', '/data/file', 'x'.repeat(size)], image, volumes });
    await writes('little', 1000);
    await assert.rejects(writes('much', 100_000), /no space left on device/);
  });

  test('mounts an image as a volume, read only', async () => {
    const namespace = await freshNamespace(cluster);
    const files = { 'model/weights': { text: 'numbers' } };
    const reference = await push(cluster, 'tests/weights:1', { entrypoint: [], files });
    const volumes = [{ at: '/weights', volume: { image: { reference } } }];
    const reads = { name: 'reads', does: ['read', '/weights/model/weights'], image, volumes };
    assert.equal(await outcome(cluster, namespace, reads), 'numbers');
    await assert.rejects(
      outcome(cluster, namespace, { name: 'writes', does: ['write', '/weights/model/more', ''], image, volumes }),
      /read-only file system/,
    );
  });

  test('ends a container that takes more memory than it may', async () => {
    const namespace = await freshNamespace(cluster);
    await makePod(cluster, namespace, { name: 'eats', does: ['fill', '200'], image, memory: '32Mi' });
    const pod = await podWhen(cluster, namespace, 'eats', ({ status }) => status.phase === 'Failed');
    const { reason, exitCode } = pod.status.containerStatuses?.[0]?.state.terminated ?? {};
    assert.deepEqual({ reason, exitCode }, { reason: 'OOMKilled', exitCode: 137 });
  });

  test('has an S3 server that serves whoever signs, and nobody else', async () => {
    assert.ok(cluster.s3);
    const { endpoint, ...identity } = cluster.s3;
    const signed = async (method: string, path: string, body?: string) => {
      const url = `${endpoint}${path}`;
      const signer = new AwsV4Signer({ url, method, service: 's3', ...identity, ...(body !== undefined && { body }) });
      const { headers } = await signer.sign();
      return fetch(url, { method, headers, signal: AbortSignal.timeout(5000), ...(body !== undefined && { body }) });
    };
    assert.equal((await signed('PUT', '/bucket')).status, 200);
    assert.equal((await signed('PUT', '/bucket/file', 'content')).status, 200);
    assert.equal(await (await signed('GET', '/bucket/file')).text(), 'content');
    const unsigned = await fetch(`${endpoint}/bucket/file`, { signal: AbortSignal.timeout(5000) });
    assert.equal(unsigned.status, 403);
  });

  test('keeps serving while the API server is restarted, and logs are there again afterwards', async () => {
    const namespace = await freshNamespace(cluster);
    await makePod(cluster, namespace, { name: 'serves', does: ['serve', 'still'], image });
    const pod = await podWhen(cluster, namespace, 'serves', isReady);
    await cluster.killApiServer();
    const answer = await fetch(`http://${pod.status.podIP}:8080`, { signal: AbortSignal.timeout(5000) });
    assert.equal(await answer.text(), 'still serves\n');
    await cluster.startApiServer();
    await eventually(() => logsOf(cluster, namespace, 'serves').then(() => true), { what: 'logs' });
  });
});
