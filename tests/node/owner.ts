// A process that starts a cluster of real nodes with a pod on each, says where, and stays: something to be killed.

import { type RealCluster, startRealCluster } from '../../controlplane/node/index.ts';
import { freshNamespace, isReady, makePod, podWhen, pushProbe } from './pods.ts';

const count = process.argv[2] === '2' ? 2 : 1;
const cluster: RealCluster = await startRealCluster({ nodes: count });
const image = await pushProbe(cluster);
const namespace = await freshNamespace(cluster);
for (const { name: node } of cluster.nodes) {
  await makePod(cluster, namespace, { name: `on-${node}`, does: ['serve', 'here'], image, node });
  await podWhen(cluster, namespace, `on-${node}`, isReady);
}
process.stdout.write(`${cluster.folder}\n`);
setInterval(() => {}, 1000);
