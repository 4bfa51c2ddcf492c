// Pods that are not even made, because a quota or an admission refuses them. A Deployment says so in a condition; a Job
// says it only in its events.

import { type DaemonSet, type Deployment, type Job, type KubeEvent } from '../builtin.ts';
import { type KubeObject } from '../kind.ts';
import { type Cause, type CauseReason, nameOf } from './cause.ts';
import { eventsAbout, timeOf } from './events.ts';
import { adviceFor, sentence } from './words.ts';

const advice = [
  [/exceeded quota/, 'raise the quota, or ask for less'],
  [/must specify (limits|requests)/, 'set resources, as the quota asks'],
  [/service ?account "[^"]*" not found/, 'create it, or name another in serviceAccountName'],
  [/no PriorityClass with name/, 'create it, or name another in priorityClassName'],
] as const;

/** What keeps a Deployment from making its pods. */
export function deploymentCause(deployment: Deployment | undefined): Cause | undefined {
  const refused = deployment?.status?.conditions?.find(
    ({ type, status, reason }) => type === 'ReplicaFailure' && status === 'True' && reason === 'FailedCreate',
  );
  return deployment && refused ? notMade(deployment, refused.message) : undefined;
}

/** What keeps a Job or a DaemonSet from making a pod. Who has made one since is not refused any more: events outlive their cause. */
export function makerEventCause(maker: Job | DaemonSet, events: readonly KubeEvent[]): Cause | undefined {
  const about = eventsAbout(maker, events);
  const newest = (wanted: string) => about.find(({ reason }) => reason === wanted);
  const [refused, made] = [newest('FailedCreate'), newest('SuccessfulCreate')];
  if (!refused || (made && timeOf(made) > timeOf(refused))) return undefined;
  return notMade(maker, refused.message);
}

/** Every attempt has another name for the pod, which says nothing. */
function notMade(object: KubeObject, message: string): Cause {
  const words = message.replace(/^Error creating: /, '').replace(/^pods "[^"]*" is forbidden: /, '');
  const reason: CauseReason = /exceeded quota|failed quota/.test(words) ? 'QuotaExceeded' : 'PodRefused';
  const told = sentence(`${nameOf(object)} cannot make a pod`, words, adviceFor(words, advice));
  return { reason, message: told, object: nameOf(object) };
}

/** Whether a cause is somebody's refusal: waiting does not help, unless they change their mind. */
export const isRefusal = ({ reason }: Cause): boolean => reason === 'QuotaExceeded' || reason === 'PodRefused';
