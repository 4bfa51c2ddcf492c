// `make run` and `make demo`: a whole Kubernetes on this machine, the operator in it as its own account, and a sample whose
// life is shown as it happens. It needs no cluster and touches none, and leaves nothing.

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MLModel } from '../../src/api/index.ts';
import { systemClock, wordsOf } from '../../src/base/index.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
import { applyAll } from '../install/cluster.ts';
import { kindObjects, operatorRoles } from '../install/objects.ts';
import { serviceAccount } from '../install/operator.ts';
import { type Sight, sightOf } from './life.ts';
import { type LocalOperator, startLocalOperator } from './operator.ts';
import type { Screen } from './screen.ts';
import { namespace, type OpenStage, seconds, type Stage } from './stage.ts';

/** Whatever takes so long will not end by itself. */
const patience = 120_000;

/** Everything that runs. */
export interface Local {
  stage: Stage;
  admin: Client;
  operator: LocalOperator;
  stop(): Promise<void>;
}

/** Installs what the kinds and the operator need, except its pod. */
export const installInto = (admin: Client): Promise<void> =>
  applyAll(admin, [...kindObjects(), serviceAccount, ...operatorRoles([])], () => {});

/** Opens the stage, installs, and starts the operator. */
export async function startLocal(open: OpenStage, screen: Screen): Promise<Local> {
  const stage = await open(screen);
  const { plane, flags } = stage;
  const admin = new Client({
    cluster: loadKubeconfig(plane.kubeconfigPath),
    clock: systemClock,
    userAgent: 'baton-run',
  });
  await installInto(admin);
  const operator = await startLocalOperator(plane, ['--log-format=text', ...flags]);
  screen.say('The kinds, the roles and the policy are installed; the operator runs with its own account.');
  return {
    stage,
    admin,
    operator,
    async stop() {
      await operator.stop();
      await admin.close();
      await stage.stop();
    },
  };
}

/** Applies the sample and shows its life until it is Ready; otherwise the reason why it is not. */
export async function showLife({ stage, admin, operator }: Local, screen: Screen): Promise<string | undefined> {
  const { name } = stage.sample.metadata;
  await admin.apply(MLModel, stage.sample, { manager: 'you' });
  screen.say(stage.applied);
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

const tail = (operator: LocalOperator): string => operator.log().trimEnd().split('\n').slice(-15).join('\n');

/** The table that kubectl shows, and on what sort of node its content lives. */
export async function showTable({ stage: { plane, remark } }: Local, screen: Screen): Promise<void> {
  const { stdout } = await plane.kubectl(['-n', namespace, 'get', 'mlm']);
  screen.say(`\n$ kubectl get mlm    # ${remark}\n${stdout.trimEnd()}`);
}

/** What the model answers, where it can be asked; otherwise the reason why it does not. */
export async function showProof({ stage, admin }: Local, screen: Screen): Promise<string | undefined> {
  try {
    const text = await stage.proof(admin);
    if (text !== undefined) screen.say(`\n${text}`);
    return undefined;
  } catch (error) {
    return `the model does not answer as it should: ${wordsOf(error)}`;
  }
}

/** How to go on from here. */
export const guide = ({ stage: { plane, sample, farewell } }: Local): string => `
Use it from another terminal:
  export KUBECONFIG=${plane.kubeconfigPath}
  alias kubectl=${plane.kubectlPath}
  kubectl get mlm -w
  kubectl scale mlm/${sample.metadata.name} --replicas=3
  kubectl describe mlm ${sample.metadata.name}
  tail -f ${join(plane.folder, 'logs', 'operator.log')}

${farewell}
Ctrl-C stops everything and leaves nothing behind.`;
