// Why pods do not serve or do not finish. The judges stand in the order of root causes: what took the pod away, then what
// keeps it from a node, then what keeps its containers from starting, then how they ended.

import { type ContainerStatus, type Pod, podCondition } from '../pod.ts';
import { type Cause, causeReasons, firstOf, type Judge, nameOf, untold } from './cause.ts';
import { containerIn, eachContainer, isLeaving, isOver, unreadyIn } from './containers.ts';
import { disrupted, forgotten, overtime, stoppedByNode, unreachable } from './disruption.ts';
import { crashed, outOfMemory, unsupportedCPU } from './ending.ts';
import { imageUnavailable } from './image.ts';
import { refused, unschedulable } from './scheduling.ts';
import { cannotRun, misconfigured } from './starting.ts';
import { sentence } from './words.ts';

const judges: readonly Judge[] = [
  disrupted,
  unreachable,
  refused,
  unschedulable,
  eachContainer(imageUnavailable),
  eachContainer(misconfigured),
  eachContainer(unsupportedCPU),
  eachContainer(cannotRun),
  overtime,
  eachContainer(outOfMemory),
  eachContainer(crashed),
  forgotten,
];

/** What keeps a pod from going on. A pod that is starting, serving or done has no cause; one that leaves ends as it was told to. */
export function podCause(pod: Pod): Cause | undefined {
  if (isLeaving(pod)) return disrupted(pod);
  if (pod.status?.phase === 'Succeeded') return stoppedByNode(pod);
  return firstOf(judges, (judge) => judge(pod));
}

/** Of several pods the most telling cause, whatever their order. Give it the pods of one revision. */
export function causeOfPods(pods: readonly Pod[]): Cause | undefined {
  const told = newestFirst(pods).flatMap((pod) => {
    const cause = podCause(pod);
    return cause ? [{ pod, cause }] : [];
  });
  return told.toSorted((a, b) => weight(a) - weight(b))[0]?.cause;
}

/** Pods that are still there speak before those that are over or leave; then the reason counts; then who has words for it. */
function weight({ pod, cause }: { pod: Pod; cause: Cause }): number {
  const past = isOver(pod) || isLeaving(pod) ? 1000 : 0;
  const rank = causeReasons.findIndex((reason) => reason === cause.reason);
  return past + 10 * rank + (cause.message.includes(untold) ? 1 : 0);
}

/** Newest first, and by name where that is equal. */
export const newestFirst = (pods: readonly Pod[]): Pod[] =>
  pods.toSorted(
    ({ metadata: a }, { metadata: b }) =>
      compare(b.creationTimestamp ?? '', a.creationTimestamp ?? '') || compare(a.name, b.name),
  );

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** What a pod that is not ready waits for; not a failure before a deadline has passed. */
export const notReadyCause = (pods: readonly Pod[]): Cause | undefined =>
  firstOf(newestFirst(pods), (pod) => (isOver(pod) || isLeaving(pod) ? undefined : waitsFor(pod)));

/** What pods that have started are not ready for: unlike a pod that is starting, such a pod has something to mend. */
export const unreadyCause = (pods: readonly Pod[]): Cause | undefined => notReadyCause(pods.filter(hasStarted));

const hasStarted = (pod: Pod): boolean => {
  const [first] = unreadyIn(pod);
  return first?.state?.running !== undefined && first.started !== false && !isInit(first, pod);
};

function waitsFor(pod: Pod): Cause | undefined {
  const [ready, placed] = [podCondition(pod, 'Ready'), podCondition(pod, 'PodScheduled')];
  if (ready?.status === 'True') return undefined;
  const object = nameOf(pod);
  if (placed?.status === 'False' || pod.spec.nodeName === undefined)
    return notReady(object, sentence(`${object} waits for a node`, placed?.message));
  const [first] = unreadyIn(pod);
  return notReady(object, first ? inWords(pod, first) : sentence(`${object} is not ready`, ready?.message));
}

const notReady = (object: string, message: string): Cause => ({ reason: 'NotReady', message, object });

function inWords(pod: Pod, container: ContainerStatus): string {
  const about = containerIn(pod, container);
  const { waiting, running } = container.state ?? {};
  const advice = `kubectl describe pod ${pod.metadata.name} tells its events`;
  if (!running) return sentence(`${about} waits to be started`, waiting?.reason, advice);
  if (isInit(container, pod)) return `${about} has not finished, and the others wait for it`;
  if (container.started === false) return `${about} runs, but its startup probe has not succeeded`;
  return `${about} runs, but its readiness probe does not succeed`;
}

/** Whether others start only after it has finished; a sidecar stays. */
const isInit = ({ name }: ContainerStatus, { spec }: Pod): boolean =>
  (spec.initContainers ?? []).some((asked) => asked.name === name && asked['restartPolicy'] !== 'Always');
