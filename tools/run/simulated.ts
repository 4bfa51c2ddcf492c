// The stage with a simulated node: it needs neither Linux nor root, and pods on it are played. The sample is the first of the
// examples, with a download that is slow enough to be watched.

import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import { startControlPlane } from '../../controlplane/index.ts';
import type { MLModel } from '../../src/api/index.ts';
import type { Screen } from './screen.ts';
import { namespace, seconds, type Stage } from './stage.ts';

const root = join(import.meta.dirname, '../..');
const sample = join(root, 'examples/mlmodel.yaml');
/** Long enough to be watched; a download in a test is shorter. The node reads it, and heeds it for this container alone. */
const downloadSeconds = 9;
const forTheNode = { 'sim.baton.dev/container': 'download', 'sim.baton.dev/run-for': `${downloadSeconds}s` };

/** Starts a control plane with a simulated node. */
export async function openSimulated(screen: Screen): Promise<Stage> {
  const began = performance.now();
  screen.say('Starting Kubernetes on this machine ...');
  const plane = await startControlPlane({ nodes: 1 });
  screen.say(
    `Kubernetes is up after ${seconds(began)}: API server, scheduler and controllers are real, the node is simulated.`,
  );
  return {
    plane,
    flags: [],
    sample: sampleModel(),
    applied: `Applied ${relative(root, sample)}; its simulated download takes ${downloadSeconds} s:\n`,
    remark: 'simulated: the pods behind it are played',
    proof: () => Promise.resolve(undefined),
    farewell:
      'The node is simulated: its pods are played, nothing is really downloaded or served.\nOn Linux as root, make run NODE=real does both.',
    stop: () => plane.stop(),
  };
}

function sampleModel(): MLModel {
  const { metadata, spec, ...rest } = parse(readFileSync(sample, 'utf8')) as MLModel;
  const podAnnotations = { ...spec.podAnnotations, ...forTheNode };
  return { ...rest, metadata: { ...metadata, namespace }, spec: { ...spec, podAnnotations } };
}
