// Two real nodes: pods reach each other across them, a silent kubelet is noticed, and a node that lost its power comes
// back with the disk that it had.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type RealCluster, type RealNode, skipReason, startRealCluster } from '../../controlplane/node/index.ts';
import { eventually } from '../kit/eventually.ts';
import { call, freshNamespace, isReady, makePod, outcome, podWhen, pushProbe } from './pods.ts';

/** So that a silent node is noticed in seconds. */
const impatient = ['--node-monitor-period=500ms', '--node-monitor-grace-period=6s'];

interface Node {
  status: { conditions: { type: string; status: string; lastHeartbeatTime: string }[] };
}

suite('two real nodes', { skip: await skipReason() }, () => {
  let cluster: RealCluster;
  let image: string;
  before(async () => {
    cluster = await startRealCluster({ nodes: 2, flags: { 'kube-controller-manager': impatient } });
    image = await pushProbe(cluster);
  });
  after(() => cluster?.stop());

  const nodeAt = (index: number): RealNode => {
    const node = cluster.nodes[index];
    assert.ok(node);
    return node;
  };
  const readiness = async ({ name }: RealNode) => {
    const { status } = await call<Node>(cluster, 'GET', `/api/v1/nodes/${name}`);
    return status.conditions.find(({ type }) => type === 'Ready')?.status;
  };
  const becomes = (node: RealNode, wanted: string) =>
    eventually(async () => (await readiness(node)) === wanted, { within: 60_000, every: 200, what: `Ready ${wanted}` });

  test('a pod on one asks a pod on the other, directly and through a Service', async () => {
    const namespace = await freshNamespace(cluster);
    const [one, two] = [nodeAt(0).name, nodeAt(1).name];
    await makePod(cluster, namespace, {
      name: 'serves',
      does: ['serve', 'hi'],
      image,
      node: one,
      labels: { app: 'hi' },
    });
    const spec = { selector: { app: 'hi' }, ports: [{ port: 80, targetPort: 8080 }] };
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hi' }, spec };
    await call(cluster, 'POST', `/api/v1/namespaces/${namespace}/services`, service);
    const { status } = await podWhen(cluster, namespace, 'serves', isReady);
    const asks = (name: string, url: string) =>
      outcome(cluster, namespace, { name, does: ['get', url], image, node: two });
    assert.equal(await asks('directly', `http://${status.podIP}:8080`), 'hi serves');
    assert.equal(await asks('by-service', 'http://hi'), 'hi serves');
  });

  test('a kubelet that is silent is noticed, and so is its return', async () => {
    const node = nodeAt(1);
    node.signal('kubelet', 'SIGSTOP');
    await becomes(node, 'Unknown');
    node.signal('kubelet', 'SIGCONT');
    await becomes(node, 'True');
  });

  test('a node that lost its power comes back with its disk', async () => {
    const node = nodeAt(1);
    const namespace = await freshNamespace(cluster);
    await makePod(cluster, namespace, { name: 'waits', does: ['wait'], image, node: node.name });
    await podWhen(cluster, namespace, 'waits', isReady);
    await node.kill();
    await becomes(node, 'Unknown');
    await node.start();
    await becomes(node, 'True');
    await podWhen(cluster, namespace, 'waits', ({ status }) => status.phase === 'Failed');
    const images = await node.run(['sh', '-c', 'ls /var/lib/containerd']);
    assert.match(images, /content/);
    const said = await outcome(cluster, namespace, { name: 'says', does: ['say', 'back'], image, node: node.name });
    assert.equal(said, 'back');
  });
});
