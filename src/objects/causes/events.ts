// Events, for what the status of an object does not tell: volumes that cannot be mounted, sandboxes that cannot be made,
// what a probe got as its answer. Events are kept for an hour only, so nothing may depend on them but words.

import { type KubeEvent } from '../builtin.ts';
import { type KubeObject } from '../kind.ts';
import { type Pod } from '../pod.ts';
import { type Cause, type CauseReason, nameOf } from './cause.ts';
import { isLeaving, isOver, unreadyIn } from './containers.ts';
import { disruption } from './disruption.ts';
import { sentence } from './words.ts';

/** The events about an object, newest first. */
export const eventsAbout = ({ kind, metadata }: KubeObject, events: readonly KubeEvent[]): KubeEvent[] =>
  events
    .filter(({ involvedObject: about }) =>
      about.uid !== undefined && metadata.uid !== undefined
        ? about.uid === metadata.uid
        : about.kind === kind && about.name === metadata.name && about.namespace === metadata.namespace,
    )
    .toSorted((a, b) => timeOf(b) - timeOf(a) || (a.metadata.name < b.metadata.name ? -1 : 1));

/** When an event was last seen, in milliseconds. */
export const timeOf = ({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: KubeEvent): number =>
  Date.parse(
    series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? '',
  ) || 0;

const creating = new Map<string, CauseReason>([
  ['FailedMount', 'VolumeUnavailable'],
  ['FailedMapVolume', 'VolumeUnavailable'],
  ['FailedAttachVolume', 'VolumeUnavailable'],
  ['FailedCreatePodSandBox', 'ContainerCannotRun'],
]);

/** What the events of a pod tell beyond its status: why its containers are not created, and why a probe fails. */
export function podEventCause(pod: Pod, events: readonly KubeEvent[]): Cause | undefined {
  if (isOver(pod) || isLeaving(pod)) return undefined;
  const warnings = eventsAbout(pod, events).filter(({ type }) => type === 'Warning');
  return notCreated(pod, warnings) ?? unhealthy(pod, warnings);
}

/** Once the sandbox is there with its volumes, such events are past. */
function notCreated(pod: Pod, warnings: readonly KubeEvent[]): Cause | undefined {
  const made = pod.status?.conditions?.some((one) => one.type === 'PodReadyToStartContainers' && one.status === 'True');
  const warning = warnings.find(({ reason }) => creating.has(reason));
  if (made || !warning) return undefined;
  const object = nameOf(pod);
  const missing = /(secret|configmap) "[^"]*" not found|references non-existent/i.test(warning.message);
  const reason = missing ? 'ContainerConfigError' : (creating.get(warning.reason) ?? 'VolumeUnavailable');
  const advice = missing ? 'create it, or name another' : undefined;
  return { reason, message: sentence(`${object} cannot be started`, warning.message, advice), object };
}

/** Why a node took a pod away, where its status does not tell. */
export function evictionCause(pod: Pod, events: readonly KubeEvent[]): Cause | undefined {
  const warning = eventsAbout(pod, events).find(({ reason }) => reason === 'Evicted');
  return warning && disruption(pod, warning.reason, warning.message);
}

function unhealthy(pod: Pod, warnings: readonly KubeEvent[], advice?: string): Cause | undefined {
  const runs = unreadyIn(pod).some(({ state }) => state?.running);
  const warning = warnings.find(({ reason }) => reason === 'Unhealthy');
  const object = nameOf(pod);
  return runs && warning
    ? { reason: 'NotReady', message: sentence(`${object} runs, but is not ready`, warning.message, advice), object }
    : undefined;
}

/** A kubelet that ends a container for its probe leaves an exit code behind that looks like a fault of the program's own. */
export function probeCause(pod: Pod, events: readonly KubeEvent[]): Cause | undefined {
  if (isOver(pod) || isLeaving(pod)) return undefined;
  const about = eventsAbout(pod, events);
  const killed = about.some(({ reason, message }) => reason === 'Killing' && /failed \w+ probe/.test(message));
  return killed ? unhealthy(pod, about, 'it is ended and started again for that') : undefined;
}
