// `make run` and `make demo`: a whole Kubernetes with a simulated node on this machine, the operator in it as its own
// account, and a sample whose life is shown as it happens. It needs no cluster and touches none, and leaves nothing.

import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { MLModel } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
import { applyAll } from '../install/cluster.ts';
import { kindObjects, operatorRoles } from '../install/objects.ts';
import { serviceAccount } from '../install/operator.ts';
import { type Sight, sightOf } from './life.ts';
import { type LocalOperator, startLocalOperator } from './operator.ts';
import type { Screen } from './screen.ts';

const root = join(import.meta.dirname, '../..');
const sample = join(root, 'examples/mlmodel.yaml');
const namespace = 'default';
/** Whatever takes so long will not end by itself. */
const patience = 120_000;
/** Long enough to be watched; a download in a test is shorter. The node reads it, and heeds it for this container alone. */
const downloadSeconds = 9;
const forTheNode = { 'sim.baton.dev/container': 'download', 'sim.baton.dev/run-for': `${downloadSeconds}s` };

/** Everything that runs. */
export interface Local {
  plane: ControlPlane;
  admin: Client;
  operator: LocalOperator;
  stop(): Promise<void>;
}

/** Installs what the kinds and the operator need, except its pod. */
export const installInto = (admin: Client): Promise<void> =>
  applyAll(admin, [...kindObjects(), serviceAccount, ...operatorRoles([])], () => {});

/** Starts the control plane, installs, and starts the operator. */
export async function startLocal(screen: Screen): Promise<Local> {
  const began = performance.now();
  screen.say('Starting Kubernetes on this machine ...');
  const plane = await startControlPlane({ nodes: 1 });
  screen.say(
    `Kubernetes is up after ${seconds(began)}: API server, scheduler and controllers are real, the node is simulated.`,
  );
  const admin = new Client({
    cluster: loadKubeconfig(plane.kubeconfigPath),
    clock: systemClock,
    userAgent: 'baton-run',
  });
  await installInto(admin);
  const operator = await startLocalOperator(plane, ['--log-format=text']);
  screen.say('The kinds, the roles and the policy are installed; the operator runs with its own account.');
  return {
    plane,
    admin,
    operator,
    async stop() {
      await operator.stop();
      await admin.close();
      await plane.stop();
    },
  };
}

/** Applies the sample and shows its life until it is Ready; otherwise the reason why it is not. */
export async function showLife({ admin, operator }: Local, screen: Screen): Promise<string | undefined> {
  const { name } = await applySample(admin);
  screen.say(`Applied ${relative(root, sample)}; its simulated download takes ${downloadSeconds} s:\n`);
  const began = performance.now();
  let last: Sight | undefined;
  while (performance.now() - began < patience) {
    if (operator.ending() !== undefined) return `the operator ${operator.ending()}:\n${tail(operator)}`;
    const sight = sightOf(await admin.get(MLModel, { namespace, name }), last);
    if (sight.phase !== last?.phase) screen.settle();
    if (sight.line !== last?.line) screen.show(`${seconds(began).padStart(8)}  ${sight.line}`);
    if (sight.verdict === 'ready') return undefined;
    if (sight.verdict === 'stalled') return `the model is stalled: ${sight.line}`;
    last = sight;
    await pause(200);
  }
  return `the model is not Ready after ${patience / 1_000} s: ${last?.line}\nThe operator's last lines:\n${tail(operator)}`;
}

async function applySample(admin: Client): Promise<MLModel['metadata']> {
  const { metadata, spec, ...rest } = parse(readFileSync(sample, 'utf8')) as MLModel;
  const podAnnotations = { ...spec.podAnnotations, ...forTheNode };
  const model: MLModel = { ...rest, metadata: { ...metadata, namespace }, spec: { ...spec, podAnnotations } };
  await admin.apply(MLModel, model, { manager: 'you' });
  return metadata;
}

const seconds = (began: number): string => `${((performance.now() - began) / 1_000).toFixed(1)} s`;
const tail = (operator: LocalOperator): string => operator.log().trimEnd().split('\n').slice(-15).join('\n');

/** The table that kubectl shows. */
export async function showTable({ plane }: Local, screen: Screen): Promise<void> {
  const { stdout } = await plane.kubectl(['-n', namespace, 'get', 'mlm']);
  screen.say(`\n$ kubectl get mlm\n${stdout.trimEnd()}`);
}

/** How to go on from here. */
export const guide = ({ plane }: Local): string => `
Use it from another terminal:
  export KUBECONFIG=${plane.kubeconfigPath}
  alias kubectl=${plane.kubectlPath}
  kubectl get mlm -w
  kubectl scale mlm/mnist --replicas=3
  kubectl describe mlm mnist
  tail -f ${join(plane.folder, 'logs', 'operator.log')}

The node is simulated: its pods are played, nothing is really downloaded or served.
Ctrl-C stops everything and leaves nothing behind.`;
