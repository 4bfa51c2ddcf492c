// The containers of a pod in the order in which they matter, and how each one came to its end.

import { type ContainerEnd, type ContainerStatus, type Pod } from '../pod.ts';
import { type Cause, firstOf, type Judge, nameOf } from './cause.ts';

/** A judge that looks at one container. */
export type ContainerJudge = (container: ContainerStatus, pod: Pod) => Cause | undefined;

/** Lets a judge look at every container that is not ready. */
export const eachContainer =
  (judge: ContainerJudge): Judge =>
  (pod) =>
    firstOf(unreadyIn(pod), (container) => judge(container, pod));

/** Whether a pod has come to its end and will not start again. */
export const isOver = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

/** Whether somebody has asked for a pod to go. */
export const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

/** A container of a pod in words. */
export const containerIn = (pod: Pod, { name }: ContainerStatus): string => `${nameOf(pod)}, container "${name}"`;

/** The node of a pod in words. */
export const nodeOf = ({ spec }: Pod): string => (spec.nodeName === undefined ? 'its node' : `node ${spec.nodeName}`);

/** What is not ready, as it starts: init containers first. In a pod that is over, whoever ended first drew the others along. */
export function unreadyIn(pod: Pod): ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const unready = [...initContainerStatuses, ...containerStatuses].filter(({ ready }) => !ready);
  return isOver(pod) ? unready.toSorted((a, b) => endedAt(a) - endedAt(b)) : unready;
}

const endedAt = ({ state }: ContainerStatus): number => Date.parse(state?.terminated?.finishedAt ?? '') || Infinity;

/** Whether its failed end is followed by another start. */
export const restarts = (pod: Pod): boolean => !isOver(pod) && pod.spec.restartPolicy !== 'Never';

/** The end that keeps a container from being ready, from its current state or from before its last restart. */
export function failedEnd(container: ContainerStatus, pod: Pod): ContainerEnd | undefined {
  const { state, lastState, restartCount } = container;
  const end = state?.terminated ?? lastState?.terminated;
  if (container.ready || !end || wasReadySince(pod, container)) return undefined;
  const looping = state?.waiting?.reason === 'CrashLoopBackOff';
  if (looping) return end;
  if (end.exitCode === 0) return state?.running && restartCount > 1 && isServer(container, pod) ? end : undefined;
  return isLost(end) ? undefined : end;
}

/** The node forgot the container, by a reboot for example: the exit code is made up. */
export const isLost = ({ reason }: ContainerEnd): boolean =>
  reason === 'ContainerStatusUnknown' || reason === 'Unknown';

/** Whether this run has been ready once: then an end before it is the past, not the cause. */
function wasReadySince({ status }: Pod, { state, started }: ContainerStatus): boolean {
  const unready = status?.conditions?.find(({ type }) => type === 'ContainersReady');
  if (started !== true || unready?.status !== 'False') return false;
  return Date.parse(unready.lastTransitionTime ?? '') > Date.parse(state?.running?.startedAt ?? '');
}

/** Whether a container should run for ever; an init container runs again after its sandbox was lost. */
const isServer = ({ name }: ContainerStatus, { spec, status }: Pod): boolean =>
  (spec.restartPolicy ?? 'Always') === 'Always' &&
  (status?.containerStatuses ?? []).some((container) => container.name === name);
