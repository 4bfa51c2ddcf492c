// The stage with a real node, on Linux as root: our image is put together and pushed to the cluster's own registry, a small
// ONNX model is downloaded from a server that is started here, served, and asked. What all this makes on the machine is
// said before it is made.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { footprint, type RealCluster, startRealCluster } from '../../controlplane/node/index.ts';
import { MLModel } from '../../src/api/index.ts';
import { referenceOf } from '../../src/oci/index.ts';
import { irisModel } from '../../tests/kit/onnx/models.ts';
import { type Origin, serve, startOrigin } from '../../tests/kit/origin.ts';
import { buildImage } from '../image/assemble.ts';
import { sendImage } from '../image/send.ts';
import { irisPrediction } from './prediction.ts';
import type { Screen } from './screen.ts';
import { namespace, seconds, type Stage } from './stage.ts';

const root = join(import.meta.dirname, '../..');

/** Starts a cluster with a real node, and a server with a model. */
export async function openReal(screen: Screen): Promise<Stage> {
  for (const line of footprint) screen.say(line);
  screen.say('  a small web server on that link, from which the model is downloaded');
  screen.say('What stays: programs in the cache, and our image in build/image of this checkout.\n');
  const cluster = await startedCluster(screen);
  const image = await pushedImage(cluster.registry, screen);
  const origin = await startedOrigin(cluster.machineAddress);
  const sample = sampleFrom(`http://${origin.host}/iris.onnx`);
  return {
    plane: cluster,
    flags: [`--image=${image}`],
    sample,
    applied: `Applied this; the server of ${sample.spec.modelURL} was started for it:\n\n${indented(stringify(sample))}`,
    remark: 'real pods on a real node',
    proof: (admin) => irisPrediction(admin, sample, cluster.nodes[0]?.address ?? ''),
    farewell: 'The node is real: ask the model again with the line above, from this machine.',
    async stop() {
      await origin[Symbol.asyncDispose]();
      await cluster.stop();
    },
  };
}

async function startedCluster(screen: Screen): Promise<RealCluster> {
  const began = performance.now();
  screen.say('Starting Kubernetes with a real node on this machine ...');
  const cluster = await startRealCluster({ nodes: 1 }, (line) => screen.say(line));
  screen.say(`Kubernetes is up after ${seconds(began)}: control plane, containerd, kubelet and kube-proxy are real.`);
  return cluster;
}

/** Our image in the registry of the cluster, under its own name. */
async function pushedImage(registry: string, screen: Screen): Promise<string> {
  const began = performance.now();
  const machine = { platform: process.platform, arch: process.arch };
  const say = (line: string) => screen.say(`  ${line}`);
  const built = await buildImage({ root, machine, folder: join(root, 'build', 'image'), say });
  const image = `${registry}/baton:demo`;
  await sendImage(built, { to: referenceOf(image), plain: true, credentials: () => undefined, say: () => {} });
  screen.say(`Our image was put together and pushed to ${image} in ${seconds(began)}.`);
  return image;
}

function startedOrigin(address: string): Promise<Origin> {
  const model = irisModel();
  return startOrigin((request, response) => serve(request, response, model, { etag: '"1"' }), { address });
}

/** A model that names the very content that it wants, and answers outside of the cluster. */
const sampleFrom = (modelURL: string) =>
  ({
    apiVersion: MLModel.apiVersion,
    kind: MLModel.kind,
    metadata: { name: 'iris', namespace },
    spec: {
      modelURL,
      digest: `sha256:${createHash('sha256').update(irisModel()).digest('hex')}`,
      storageSize: '64Mi',
      framework: 'onnx',
      expose: true,
    },
  }) as MLModel;

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');
