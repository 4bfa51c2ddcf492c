// How far the servers are: which revision they run, whether enough of them answer, what keeps the new ones from it, and by
// which way they take over.

import { mark, type MLModel } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { type Cause, causeOfPods, Deployment, notReadyCause, Pod } from '../../objects/index.ts';
import { serverName, type Takeover } from './server.ts';

export interface Rollout {
  /** The revision that the Deployment was last told to run; undefined without a Deployment. */
  told: string | undefined;
  takeover: Takeover | undefined;
  /** All servers are of the revision that was told, and enough of them are available. */
  complete: boolean;
  /** Something answers, of whatever revision. */
  available: number;
  ready: number;
  replicas: number;
  /** The deadline for progress has passed. */
  overdue: boolean;
  cause: Cause | undefined;
}

/** How the servers stand. */
export function rolloutOf(model: MLModel, seen: Observed): Rollout {
  const running = seen.get(Deployment, serverName(model));
  const { status } = running ?? {};
  const told = running?.metadata.annotations?.[mark.revision];
  const pods = seen
    .labelled(Pod)
    .filter(
      ({ metadata }) => told !== undefined && metadata.labels?.[mark.revision] === told && isServer(metadata.labels),
    );
  const counted = running !== undefined && isCounted(running, model);
  return {
    told,
    takeover: running?.metadata.annotations?.[mark.rollout] as Takeover | undefined,
    complete: counted && (status?.availableReplicas ?? 0) >= enough(model.spec.replicas),
    available: status?.availableReplicas ?? 0,
    ready: status?.readyReplicas ?? 0,
    replicas: status?.replicas ?? 0,
    overdue:
      status?.conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded') ??
      false,
    cause: causeOfPods(pods) ?? failureToMake(running) ?? notReadyCause(pods),
  };
}

/** One evicted pod of several is not an outage. */
export const enough = (replicas: number): number => (replicas > 1 ? replicas - 1 : replicas);

/** The Deployment's own count is of what we want, and all that exists is of the newest template. */
function isCounted({ metadata, spec, status }: Deployment, model: MLModel): boolean {
  const current =
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && spec.replicas === model.spec.replicas;
  return (
    current &&
    (status?.updatedReplicas ?? 0) === (status?.replicas ?? 0) &&
    (status?.updatedReplicas ?? 0) >= enough(model.spec.replicas)
  );
}

/** Pods that cannot even be made: quota, admission. */
function failureToMake(running: Deployment | undefined): Cause | undefined {
  const failure = running?.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  );
  if (!failure) return undefined;
  const reason = /exceeded quota/.test(failure.message) ? 'QuotaExceeded' : 'PodRefused';
  return { reason, message: failure.message, object: `Deployment ${running?.metadata.name}` };
}

const isServer = (labels: Record<string, string>): boolean => labels['app.kubernetes.io/component'] === 'server';

/** How the revision should take over: with no room beside the old one, in its place. Decided once per revision. */
export function takeoverFor(model: MLModel, target: string, rollout: Rollout): Takeover {
  const { strategy } = model.spec.rollout;
  if (strategy !== 'auto') return strategy;
  if (rollout.told !== target || rollout.takeover === undefined) return 'surge';
  if (rollout.complete || rollout.takeover === 'oneByOne') return rollout.complete ? 'surge' : 'oneByOne';
  const crowded = rollout.cause?.reason === 'Unschedulable' && rollout.available > 0;
  return crowded ? 'oneByOne' : 'surge';
}
