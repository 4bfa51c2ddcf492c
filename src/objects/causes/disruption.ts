// Pods that something took away: the node, the scheduler, a drain, or the time they were given.

import { type Pod } from '../pod.ts';
import { type Cause, type Judge, nameOf } from './cause.ts';
import { isLost, isOver, nodeOf, unreadyIn } from './containers.ts';
import { adviceFor, sentence } from './words.ts';

/** Reasons that stand in the status of a pod, or in its DisruptionTarget condition. */
const evictions = new Set(['Evicted', 'Preempting']);
const lossesOfNode = new Set(['NodeLost', 'NodeShutdown', 'Terminated', 'DeletionByTaintManager', 'DeletionByPodGC']);

/** Evicted, preempted or gone with its node, in the words of whoever did it. */
export const disrupted: Judge = (pod) => {
  const { reason = '', message, conditions = [] } = pod.status ?? {};
  if (evictions.has(reason) || lossesOfNode.has(reason)) return disruption(pod, reason, message);
  const target = conditions.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True');
  return target && disruption(pod, target.reason ?? '', target.message);
};

/** A server that ends in good order when its node takes it away looks as if it were done; only an event tells why. */
export const stoppedByNode: Judge = (pod) => {
  const runsForEver = (pod.spec.restartPolicy ?? 'Always') === 'Always';
  return runsForEver ? disruption(pod, 'Evicted', pod.status?.message) : undefined;
};

/** Evicted, preempted or gone with its node: the cause in these words. */
export function disruption(pod: Pod, why: string, words: string | undefined): Cause {
  const reason = lossesOfNode.has(why) ? 'NodeLost' : 'Evicted';
  const happened = reason === 'Evicted' ? `was evicted from ${nodeOf(pod)}` : `lost ${nodeOf(pod)}`;
  const object = nameOf(pod);
  return { reason, message: sentence(`${object} ${happened}`, words, adviceFor(words ?? '', advice)), object };
}

const advice = [
  [/exceeds? (its|the) .*limit|exceeded its local/, 'raise that limit'],
  [/request is 0\b/, 'set a request, so that its node keeps room for it'],
  [/higher priority/, 'add capacity, or give it a priorityClassName'],
] as const;

/** The node stopped reporting: its pods are marked as not ready from outside, while their containers still count as ready. */
export const unreachable: Judge = (pod) => {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  const containers = pod.status?.conditions?.find(({ type }) => type === 'ContainersReady');
  if (pod.spec['readinessGates'] || ready?.status !== 'False' || containers?.status !== 'True') return undefined;
  const object = nameOf(pod);
  return { reason: 'NodeLost', message: `${object} lost ${nodeOf(pod)}: the node does not answer`, object };
};

/** A pod that is over because its node forgot a container of it. */
export const forgotten: Judge = (pod) => {
  const end = unreadyIn(pod).find(({ state }) => state?.terminated && isLost(state.terminated))?.state?.terminated;
  if (!isOver(pod) || !end) return undefined;
  const object = nameOf(pod);
  return { reason: 'NodeLost', message: sentence(`${object} lost ${nodeOf(pod)}`, end.message), object };
};

/** Stopped for having taken too long. */
export const overtime: Judge = (pod) => {
  const { reason, message } = pod.status ?? {};
  if (reason !== 'DeadlineExceeded') return undefined;
  const object = nameOf(pod);
  return { reason, message: sentence(`${object} took too long`, message, 'raise activeDeadlineSeconds'), object };
};
