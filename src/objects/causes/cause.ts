// What a judge says. A cause is made only from what was observed, so the same world always gives the same words, and a
// status that carries them is written only when something has changed.

import { type KubeObject } from '../kind.ts';
import { type Pod } from '../pod.ts';

/** What keeps something from going on, in words for a person. */
export interface Cause {
  reason: string;
  message: string;
  /** Kind and name, e.g. `Pod iris-server-5c9-x7`. */
  object: string;
}

/** Every reason that the judges know. Of several pods the one speaks whose reason stands first: it tells a person most. */
export const causeReasons = [
  'ImageUnavailable',
  'ContainerConfigError',
  'VolumeUnavailable',
  'UnsupportedCPU',
  'ContainerCannotRun',
  'OutOfMemory',
  'CrashLooping',
  'ContainerFailed',
  'DeadlineExceeded',
  'QuotaExceeded',
  'PodRefused',
  'Unschedulable',
  'Evicted',
  'NodeLost',
  'BackoffLimitExceeded',
  'JobFailed',
  'ClaimLost',
  'ClaimPending',
  'ExpansionFailed',
  'NotReady',
] as const;
export type CauseReason = (typeof causeReasons)[number];

/** A judge looks at a pod for one kind of trouble. */
export type Judge = (pod: Pod) => Cause | undefined;

/** What stands in a message where the cluster gave no words of its own. */
export const untold = 'no reason is given';

/** An object in words. */
export const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

/** The first that is there. */
export function firstOf<A, B>(list: Iterable<A>, ask: (one: A) => B | undefined): B | undefined {
  for (const one of list) {
    const answer = ask(one);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
