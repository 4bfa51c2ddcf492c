// The controllers of Deployments and Jobs, reduced to what others can see of them: pods that come and go, counts that lag
// behind the generation, deadlines, and the conditions in which they say how it went.

import { hashOf } from '../../../src/base/index.ts';
import {
  type Condition,
  type Deployment,
  type Job,
  jobResult,
  Pod,
  type PodTemplate,
} from '../../../src/objects/index.ts';
import type { Store } from './store.ts';

const isOver = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';
const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** Whether a pod answers. */
export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false);

/** The pods of an object, by its UID. */
export const podsOf = (store: Store, uid: string | undefined): Pod[] =>
  store.all(Pod).filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);

const hashes = new WeakMap<PodTemplate, string>();

/** Objects are never changed in place, so a hash that was taken once stays right. */
function hashOfTemplate(template: PodTemplate): string {
  const hash = hashes.get(template) ?? hashOf(template).slice(0, 8);
  hashes.set(template, hash);
  return hash;
}

const hashLabel = 'pod-template-hash';
const hashIn = ({ metadata }: Pod): string | undefined => metadata.labels?.[hashLabel];

function makePod(store: Store, owner: Deployment | Job, labels: Record<string, string>): void {
  const { template } = owner.spec;
  const { kind, apiVersion, metadata } = owner;
  store.create({
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: {
      name: `${metadata.name}-${store.version}`,
      labels: { ...template.metadata?.labels, ...labels },
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true }],
    },
    spec: template.spec,
    status: { phase: 'Pending' },
  } as Pod);
}

/** One look of the Deployment controller at a Deployment: pods first, then the status. */
export function syncDeployment(store: Store, deployment: Deployment): void {
  if (deployment.metadata.deletionTimestamp) return;
  const hash = hashOfTemplate(deployment.spec.template);
  const before = servers(store, deployment, hash);
  const { desired, surge, unavailable } = bounds(deployment);
  const room = desired + surge - before.fresh.length - before.old.length;
  for (let n = Math.min(desired - before.fresh.length, room); n > 0; n--)
    makePod(store, deployment, { [hashLabel]: hash });
  remove(store, before.fresh, before.fresh.length - desired);
  const now = servers(store, deployment, hash);
  const answering = [...now.fresh, ...now.old].filter(isReady).length;
  const spare =
    now.fresh.length + now.old.length - (desired - unavailable) - now.fresh.filter((pod) => !isReady(pod)).length;
  const broken = now.old.filter((pod) => !isReady(pod));
  const cleaned = Math.min(broken.length, Math.max(0, spare));
  remove(store, broken, cleaned);
  remove(store, now.old.filter(isReady), Math.min(spare - cleaned, answering - (desired - unavailable)));
  report(store, deployment, hash);
}

const servers = (store: Store, { metadata }: Deployment, hash: string): { fresh: Pod[]; old: Pod[] } => {
  const active = podsOf(store, metadata.uid).filter((pod) => !isOver(pod) && !isLeaving(pod));
  return { fresh: active.filter((pod) => hashIn(pod) === hash), old: active.filter((pod) => hashIn(pod) !== hash) };
};

function bounds({ spec }: Deployment): { desired: number; surge: number; unavailable: number } {
  const desired = spec.replicas ?? 1;
  const { rollingUpdate } = spec['strategy'] as {
    rollingUpdate: { maxSurge: number; maxUnavailable: number | string };
  };
  const { maxSurge: surge, maxUnavailable } = rollingUpdate;
  return {
    desired,
    surge,
    unavailable: typeof maxUnavailable === 'string' ? desired : Math.min(maxUnavailable, desired),
  };
}

/** Those that are not ready go first. */
function remove(store: Store, pods: readonly Pod[], count: number): void {
  const order = pods.toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)));
  for (const pod of order.slice(0, Math.max(0, count))) store.delete(pod);
}

function report(store: Store, deployment: Deployment, hash: string): void {
  const { fresh, old } = servers(store, deployment, hash);
  const pods = [...fresh, ...old];
  const ready = pods.filter(isReady).length;
  const counts = {
    replicas: pods.length,
    updatedReplicas: fresh.length,
    readyReplicas: ready,
    availableReplicas: ready,
  };
  const conditions = [progressing(store, deployment, { ...counts, hash }), available(store, deployment, ready)];
  const { generation = 0 } = deployment.metadata;
  store.put({ ...deployment, status: { observedGeneration: generation, ...counts, conditions } } as Deployment);
}

type Counts = { replicas: number; updatedReplicas: number; readyReplicas: number; availableReplicas: number };

/** The hash of the template that a condition is about is remembered in its message, as the name of a ReplicaSet is. */
function progressing(store: Store, { spec, status }: Deployment, now: Counts & { hash: string }): Condition {
  const held = status?.conditions?.find(({ type }) => type === 'Progressing');
  const desired = spec.replicas ?? 1;
  const done = now.updatedReplicas === desired && now.replicas === desired && now.availableReplicas === desired;
  const say = (reason: string): Condition => ({
    type: 'Progressing',
    status: reason === 'ProgressDeadlineExceeded' ? 'False' : 'True',
    reason,
    message: now.hash,
    lastTransitionTime: store.time,
  });
  if (!held || held.message !== now.hash) return say(done ? 'NewReplicaSetAvailable' : 'NewReplicaSetCreated');
  if (held.reason === 'NewReplicaSetAvailable' && now.replicas === now.updatedReplicas) return held;
  if (done) return say('NewReplicaSetAvailable');
  if (moved(status as Counts, now)) return say('ReplicaSetUpdated');
  const seconds = Number(spec['progressDeadlineSeconds'] ?? 600);
  const late = store.now - Date.parse(held.lastTransitionTime ?? '') > seconds * 1_000;
  return late && held.status === 'True' && held.reason !== 'NewReplicaSetAvailable'
    ? say('ProgressDeadlineExceeded')
    : held;
}

const moved = (before: Counts, now: Counts): boolean =>
  now.updatedReplicas > before.updatedReplicas ||
  now.availableReplicas > before.availableReplicas ||
  now.replicas - now.updatedReplicas < before.replicas - before.updatedReplicas;

function available(store: Store, deployment: Deployment, ready: number): Condition {
  const { desired, unavailable } = bounds(deployment);
  const status = ready >= desired - unavailable ? 'True' : 'False';
  const held = deployment.status?.conditions?.find(({ type }) => type === 'Available');
  if (held?.status === status) return held;
  return { type: 'Available', status, reason: 'Minimum', message: '', lastTransitionTime: store.time };
}

const counted = 'counted-pods';

/** One look of the Job controller at a Job. */
export function syncJob(store: Store, job: Job): void {
  if (jobResult(job) !== 'running' || job.metadata.deletionTimestamp) return;
  const pods = podsOf(store, job.metadata.uid);
  const known = (job.status?.[counted] ?? []) as string[];
  const failures = pods.filter((pod) => pod.status?.phase === 'Failed' && !isDisrupted(pod));
  const all = [...new Set([...known, ...failures.map(({ metadata }) => metadata.uid ?? '')])];
  const status = { ...job.status, failed: all.length, [counted]: all };
  const verdict = failures.some((pod) => pod.status?.containerStatuses?.[0]?.state?.terminated?.exitCode === 42);
  if (pods.some((pod) => pod.status?.phase === 'Succeeded'))
    return end(store, job, status, ['Complete', 'CompletionsReached']);
  if (verdict) return end(store, job, status, ['Failed', 'PodFailurePolicy']);
  if (all.length > (job.spec.backoffLimit ?? 6)) return end(store, job, status, ['Failed', 'BackoffLimitExceeded']);
  store.put({ ...job, status } as Job);
  const { name, uid = '' } = job.metadata;
  if (pods.every(isOver))
    makePod(store, job, { 'batch.kubernetes.io/job-name': name, 'batch.kubernetes.io/controller-uid': uid });
}

const isDisrupted = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'DisruptionTarget' && holds === 'True') ?? false;

function end(store: Store, job: Job, status: object, [type, reason]: [string, string]): void {
  const conditions = [{ type, status: 'True', reason, message: '', lastTransitionTime: store.time }];
  store.put({ ...job, status: { ...status, conditions } } as Job);
}
