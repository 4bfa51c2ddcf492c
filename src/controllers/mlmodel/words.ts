// What a person is told. Same world, same words: nothing from the clock, and only counts that were observed.

import { type MLModel, type MLModelStatus, mark, type Progress } from '../../api/index.ts';
import type { Facts, Observed } from '../../kube/define.ts';
import { type Condition, Pod, PersistentVolumeClaim, quantityOf, Service } from '../../objects/index.ts';
import type { MLModelFacts } from './facts.ts';
import { exposeName, serviceName } from './network.ts';
import { serverLabels } from './server.ts';
import type { Stage } from './stage.ts';
import { hasWeights, type Plan } from './wanted.ts';

export interface Told {
  model: MLModel;
  stage: Stage;
  plan: Plan;
  seen: Observed;
  facts: Facts<MLModelFacts>;
  outdated: boolean;
}

type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** The whole status of a model. */
export function statusOf(told: Told): MLModelStatus {
  const { model, stage, plan, seen, facts } = told;
  const observedGeneration = model.metadata.generation ?? 0;
  const { port } = plan.target ?? plan.asked;
  const serving = servingRevision(plan, seen);
  return {
    observedGeneration,
    phase: stage.name,
    message: messageOf(stage, plan, serving),
    conditions: verdicts(told, serving).map((verdict) => ({ ...verdict, observedGeneration })),
    serviceEndpoint: `${serviceName(model)}.${model.metadata.namespace}.svc.cluster.local:${port}`,
    revision: plan.asked.name,
    ...(serving !== undefined && { servingRevision: serving }),
    ...(plan.weights.at === 'ready' && plan.weights.digest !== undefined && { digest: plan.weights.digest }),
    ...progressOf(plan, facts),
    replicas: plan.rollout.replicas,
    readyReplicas: plan.rollout.ready,
    selector: Object.entries(serverLabels(model))
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
    weightsPath: 'Claim',
    history: plan.former.filter((revision) => hasWeights(revision, seen)).map(({ name }) => name),
  };
}

/** The revision that answers: the one of the ready servers; while one replaces another, the older. */
function servingRevision({ rollout }: Plan, seen: Observed): string | undefined {
  if (rollout.complete) return rollout.told;
  const ready = seen
    .labelled(Pod)
    .filter(
      ({ metadata, status }) =>
        metadata.labels?.['app.kubernetes.io/component'] === 'server' && isReady(status?.conditions),
    );
  const revisions = ready.map(({ metadata }) => metadata.labels?.[mark.revision]).filter((name) => name !== undefined);
  return revisions.find((name) => name !== rollout.told) ?? revisions[0];
}

const isReady = (conditions: { type: string; status: string }[] | undefined): boolean =>
  conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

function progressOf(
  { weights }: Plan,
  { progress }: Facts<MLModelFacts>,
): { download?: NonNullable<MLModelStatus['download']> } {
  if (weights.at !== 'loading' || progress.state !== 'known' || progress.value === undefined) return {};
  const { bytes, total }: Progress = progress.value;
  const percent = total === undefined || total === 0 ? undefined : Math.floor((bytes * 100) / total);
  return { download: { bytes, ...(total !== undefined && { total }), ...(percent !== undefined && { percent }) } };
}

function messageOf(stage: Stage, { rollout, asked }: Plan, serving: string | undefined): string {
  const meanwhile = serving !== undefined && serving !== asked.name ? `; revision ${serving} serves until then` : '';
  switch (stage.name) {
    case 'Ready':
      return stage.idle ? 'Scaled to zero: nothing serves, the weights are kept' : 'The model is served';
    case 'Failed':
      return `${stage.cause.message}${serving === undefined ? '' : `; revision ${serving} serves`}`;
    case 'Pending':
    case 'CreatingStorage':
      return stage.cause?.message ?? `Waiting for the volume to be bound${meanwhile}`;
    case 'Downloading':
      return stage.cause?.message ?? `The weights are being downloaded${meanwhile}`;
    case 'Serving':
      return `${stage.cause?.message ?? 'The servers are starting'}${gap(rollout.takeover, stage.cause?.message)}${meanwhile}`;
  }
}

/** Why a revision takes over in the place of the old one. */
const gap = (takeover: string | undefined, cause: string | undefined): string =>
  takeover === 'oneByOne' && cause === undefined
    ? ' one by one, in the place of the old ones, because there is no room beside them: there may be a gap'
    : '';

/** All conditions, the summary first. */
function verdicts(told: Told, serving: string | undefined): Verdict[] {
  const { stage, plan } = told;
  const message = messageOf(stage, plan, serving);
  const reason = reasonOf(stage);
  const ready = stage.name === 'Ready';
  const stalled = stage.name === 'Failed';
  const scaling = ready && plan.rollout.available < told.model.spec.replicas;
  return [
    verdict('Ready', ready, reason, message),
    verdict('Reconciling', !stalled && (!ready || scaling), scaling ? 'Scaling' : reason, message),
    verdict('Stalled', stalled, reason, message),
    verdict(
      'Available',
      plan.rollout.available > 0,
      plan.rollout.available > 0 ? 'Serving' : 'NothingServes',
      availableWords(plan, serving),
    ),
    ...storageVerdicts(told),
    verdict('Serving', ready, reason, message),
    exposed(told),
    verdict('Outdated', told.outdated, told.outdated ? 'NewerOperator' : 'UpToDate', outdatedWords(told.outdated)),
  ];
}

const verdict = (type: string, holds: boolean, reason: string, message: string): Verdict => ({
  type,
  status: holds ? 'True' : 'False',
  reason,
  message,
});

function reasonOf(stage: Stage): string {
  if (stage.name === 'Ready') return stage.idle ? 'ScaledToZero' : 'Serving';
  return stage.cause?.reason ?? stage.name;
}

const availableWords = ({ rollout }: Plan, serving: string | undefined): string =>
  rollout.available > 0
    ? `${rollout.available} servers answer${serving === undefined ? '' : ` with revision ${serving}`}`
    : 'No server answers';

const outdatedWords = (outdated: boolean): string =>
  outdated
    ? 'This operator would run the servers in another way: set the annotation baton.dev/refresh, or edit the model, to roll them'
    : 'The servers run as this operator would run them';

function storageVerdicts({ model, stage, plan: { weights, asked }, seen }: Told): Verdict[] {
  const done = weights.at === 'ready';
  const stored = done || weights.at === 'loading' || weights.at === 'recheck' || weights.at === 'failed';
  const cause = 'cause' in stage ? stage.cause?.message : undefined;
  const claim = asked.source.from === 'download' ? seen.get(PersistentVolumeClaim, asked.source.claim) : undefined;
  const reason =
    'cause' in weights && weights.cause ? weights.cause.reason : weights.at === 'ready' ? 'Downloaded' : 'Downloading';
  return [
    verdict(
      'StorageReady',
      stored,
      stored ? 'Provided' : ('cause' in weights && weights.cause?.reason) || 'Binding',
      stored ? 'There is a volume for the weights' : (cause ?? 'Waiting for the volume to be bound'),
    ),
    verdict('Downloaded', done, reason, done ? 'The weights are there' : (cause ?? 'The weights are not there yet')),
    ...shrunk(model, claim),
    ...(model.spec.retain
      ? [verdict('Retained', true, 'Asked', `The volume ${asked.source.claim} stays when the model is deleted`)]
      : []),
  ];
}

/** A smaller size than the volume has is not carried out, and that is said. */
function shrunk({ spec }: MLModel, claim: PersistentVolumeClaim | undefined): Verdict[] {
  const held = claim?.spec.resources?.requests?.storage;
  if (held === undefined || spec.storageSize === undefined) return [];
  if ((quantityOf(spec.storageSize) ?? 0n) >= (quantityOf(held) ?? 0n)) return [];
  return [
    verdict(
      'StorageShrinkIgnored',
      true,
      'VolumesDoNotShrink',
      `The volume keeps its ${held}; ${spec.storageSize} counts for the next revision of the weights`,
    ),
  ];
}

function exposed({ model, seen }: Told): Verdict {
  if (!model.spec.expose) return verdict('Exposed', false, 'NotAsked', 'The model answers inside the cluster only');
  const port = seen.get(Service, exposeName(model))?.spec.ports?.[0]?.nodePort;
  if (port === undefined) return verdict('Exposed', false, 'Waiting', 'Waiting for a port on the nodes');
  return verdict('Exposed', true, 'NodePort', `The model answers on port ${port} of every node`);
}
