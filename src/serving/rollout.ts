// How far the servers are: which revision they run, whether enough of them answer, what keeps the new ones from it, and by
// which way they take over.

import { mark } from '../api/index.ts';
import type { Known, Observed } from '../kube/define.ts';
import {
  type Cause,
  causeOfPods,
  type Deployment,
  deploymentCause,
  evictionCause,
  isPodReady,
  type KubeEvent,
  notReadyCause,
  type Pod,
  podCondition,
  podEventCause,
  probeCause,
  type PodTemplate,
  unreadyCause,
} from '../objects/index.ts';
import { podsIn, revisionIn, serversIn, serversOf } from './pods.ts';
import { fitsQuota, wouldFit } from './room.ts';
import type { Takeover } from './server.ts';

export interface Rollout {
  /** The revision that the Deployment was last told to run; undefined without a Deployment. */
  told: string | undefined;
  /** The pods that it runs, as the server knows them. */
  template: PodTemplate | undefined;
  takeover: Takeover | undefined;
  /** Revisions that have taken over completely before, the last first. */
  served: readonly string[];
  /** Revisions whose servers answer now: the most servers first. */
  serving: readonly string[];
  /** All servers are of the revision that was told, and enough of them are available. */
  complete: boolean;
  /** Servers of other revisions are still there. */
  older: boolean;
  /** Something answers, of whatever revision. */
  available: number;
  ready: number;
  replicas: number;
  /** The Deployment's own verdict on a takeover: it has ended, it goes on, or its deadline has passed. */
  takingOver: 'done' | 'going' | 'overdue';
  /** What keeps the new servers from answering. */
  cause: Cause | undefined;
  /** What they wait for, which is no trouble before the deadline. */
  late: Cause | undefined;
  /** The last time at which anything changed for better or worse. */
  since: string | undefined;
  /** What keeps a new server from starting beside the old ones, and would not if they were gone. */
  hindrance: Hindrance | undefined;
}

/** `room`: on a node, or in a quota. `others`: it must run on the node of those that hold the volume, and may not run there. */
export interface Hindrance {
  by: 'room' | 'others';
  since: string;
}

/** What the kubelet says of a server that does not start, as far as it is known. */
type Told = Known<KubeEvent[]>;

/** How the servers stand: those of a Deployment, as many as are asked for. */
export function rolloutOf(
  running: Deployment | undefined,
  replicas: number,
  { seen, podEvents }: { seen: Observed; podEvents: Told },
): Rollout {
  const { status, metadata } = running ?? {};
  const servers = serversIn(seen);
  const told = toldTo(running);
  const pods = serversOf(told, seen);
  const old = podsIn(seen).filter((pod) => servers.includes(pod) && !pods.includes(pod));
  return {
    told,
    template: running?.spec.template,
    takeover: metadata?.annotations?.[mark.rollout] as Takeover | undefined,
    served: (metadata?.annotations?.[mark.served] ?? '').split(',').filter((name) => name !== ''),
    serving: servingIn(servers),
    complete: running !== undefined && isComplete(running, replicas),
    older: (status?.replicas ?? 0) > (status?.updatedReplicas ?? 0),
    available: status?.availableReplicas ?? 0,
    ready: status?.readyReplicas ?? 0,
    replicas: status?.replicas ?? 0,
    takingOver: takingOver(running),
    cause: ofPods(pods, podEvents) ?? deploymentCause(running) ?? notReady(pods, podEvents) ?? unreadyCause(pods),
    late: notReadyCause(pods),
    since: lastChange(running, pods),
    hindrance:
      hindered('room', pods, (pod, words) => wouldFit(pod, words, old)) ??
      overQuota(running) ??
      hindered('others', pods, (_, words) => apart.test(words)),
  };
}

/** The revision that a Deployment was last told to run. */
export const toldTo = (running: Deployment | undefined): string | undefined =>
  running?.metadata.annotations?.[mark.revision];

/** A server that is ended for its probe seems to crash, and one that is taken away seems to be done, until events are known. */
function ofPods(pods: readonly Pod[], events: Told): Cause | undefined {
  const cause = causeOfPods(pods);
  if (cause?.reason === 'CrashLooping') return firstTold(probeCause, pods, events) ?? cause;
  return cause?.reason === 'Evicted' ? (firstTold(evictionCause, pods, events) ?? cause) : cause;
}

/** What the kubelet says of a server that cannot be started, with its volume for example, or does not answer. */
const notReady = (pods: readonly Pod[], events: Told): Cause | undefined => firstTold(podEventCause, pods, events);

const firstTold = (judge: typeof podEventCause, pods: readonly Pod[], events: Told): Cause | undefined =>
  events.state === 'known'
    ? pods.map((pod) => judge(pod, events.value)).find((cause) => cause !== undefined)
    : undefined;

/**
 * A server that has its node and is not ready, where that is more than the first moments of a takeover: after its
 * deadline, beside servers that had arrived, or with a volume of which only its owner knows where it can be mounted. Or
 * one that its node has stopped, which is at no time how a server should end.
 */
export function stuckServer(
  running: Deployment | undefined,
  seen: Observed,
  volume: 'ours' | 'foreign',
): Pod | undefined {
  const servers = serversOf(toldTo(running), seen)
    .filter(({ spec, metadata }) => spec.nodeName && !metadata.deletionTimestamp)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const early = !running || (takingOver(running) === 'going' && volume === 'ours');
  return (early ? undefined : servers.find(isWaiting)) ?? servers.find(({ status }) => status?.phase === 'Succeeded');
}

const isWaiting = (pod: Pod): boolean =>
  pod.status?.phase === 'Pending' || (pod.status?.phase === 'Running' && !isPodReady(pod));

/** The revisions of servers that answer and are not on their way out. */
function servingIn(servers: readonly Pod[]): string[] {
  const counts = new Map<string, number>();
  for (const pod of servers) {
    const name = revisionIn(pod);
    const answers = isPodReady(pod) && !pod.metadata.deletionTimestamp;
    if (answers && name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
}

/** One evicted pod of several is not an outage. */
export const enough = (replicas: number): number => (replicas > 1 ? replicas - 1 : replicas);

/** The Deployment's own count is of what we want, all that exists is of the newest template, and enough of it answers. */
function isComplete({ metadata, spec, status }: Deployment, replicas: number): boolean {
  const { observedGeneration = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {};
  const current = !metadata.deletionTimestamp && observedGeneration >= (metadata.generation ?? 0);
  const all = spec.replicas === replicas && updatedReplicas === (status?.replicas ?? 0);
  return current && all && Math.min(updatedReplicas, availableReplicas) >= enough(replicas);
}

/** A verdict on an earlier generation is no verdict on this one. */
function takingOver(running: Deployment | undefined): Rollout['takingOver'] {
  const { observedGeneration = 0, conditions } = running?.status ?? {};
  if (observedGeneration < (running?.metadata.generation ?? 0)) return 'going';
  const reason = conditions?.find(({ type }) => type === 'Progressing')?.reason;
  if (reason === 'ProgressDeadlineExceeded') return 'overdue';
  return reason === 'NewReplicaSetAvailable' ? 'done' : 'going';
}

function lastChange(running: Deployment | undefined, pods: readonly Pod[]): string | undefined {
  const conditions = (running?.status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime);
  const readiness = pods.map((pod) => podCondition(pod, 'Ready')?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  return [...conditions, ...readiness]
    .filter((time) => typeof time === 'string')
    .toSorted()
    .at(-1);
}

/** What the scheduler says of nodes that would do but for the pods that are elsewhere. Other obstacles would not go away with the old servers. */
const apart = /didn't match pod affinity rules/;

function hindered(
  by: Hindrance['by'],
  pods: readonly Pod[],
  isSo: (pod: Pod, words: string) => boolean,
): Hindrance | undefined {
  const waiting = pods.flatMap((pod) => {
    const placed = podCondition(pod, 'PodScheduled');
    const waits = placed?.status === 'False' && !pod.metadata.deletionTimestamp;
    return waits && isSo(pod, placed.message ?? '') ? [placed.lastTransitionTime ?? ''] : [];
  });
  const [since] = waiting.toSorted();
  return since === undefined ? undefined : { by, since };
}

function overQuota(running: Deployment | undefined): Hindrance | undefined {
  if (deploymentCause(running)?.reason !== 'QuotaExceeded') return undefined;
  const refused = running?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
  if (!fitsQuota(refused?.message ?? '')) return undefined;
  return { by: 'room', since: refused?.lastTransitionTime ?? '' };
}
