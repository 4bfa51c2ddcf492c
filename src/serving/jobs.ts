// What the Job of one of our programs tells. The program's own last word counts most, then the Job's conditions, then its pods; a
// fault of the network is the Job's to retry, and says so with the number of attempts that were seen.

import { heardLastWord, type LastWord, mark } from '../api/index.ts';
import type { Facts, Observed } from '../kube/define.ts';
import {
  type Cause,
  causeOfPods,
  type Job,
  jobCause,
  makerEventCause,
  jobResult,
  type KubeEvent,
  type KubeObject,
  notReadyCause,
  Pod,
  podEventCause,
} from '../objects/index.ts';

/** What is asked about Jobs beside the cache. */
export type JobFacts = {
  podEvents: KubeEvent[];
  jobEvents: KubeEvent[];
  endedPods: Pod[];
};

/** How far a Job is. `restarting`: its evidence is gone, so that it must be done again. */
export type InJob =
  | { at: 'ready'; digest: string }
  | { at: 'restarting'; cause: Cause | undefined; since: string | undefined }
  | Loading
  | { at: 'failed'; attempt: string; cause: Cause };

/** A Job that goes on. A `cause` is told at once, a `late` one when the deadline has passed. */
export type Loading = {
  at: 'loading';
  attempt: string;
  cause: Cause | undefined;
  late: Cause | undefined;
  failed: number;
  since: string | undefined;
};

/** In an order that does not change. */
export const byName = <T extends KubeObject>(objects: readonly T[]): T[] =>
  objects.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

export const attemptIn = ({ metadata }: Job): string => metadata.annotations?.[mark.attempt] ?? '';

/** The pods of this Job, not of one that had its name before. */
export const podsOf = ({ metadata }: Job, seen: Observed): Pod[] =>
  byName(
    seen.labelled(Pod).filter((pod) => pod.metadata.labels?.['batch.kubernetes.io/controller-uid'] === metadata.uid),
  );

/** Whether a pod is among these that did what it was made for. */
export const hasSucceeded = (pods: readonly Pod[]): boolean => pods.some(({ status }) => status?.phase === 'Succeeded');

/** How far a Job is that has not failed; `held` is what keeps back that which it works on. */
export function inJob(job: Job, held: Cause | undefined, seen: Observed, facts: Facts<JobFacts>): InJob {
  const pods = podsOf(job, seen);
  return jobResult(job) === 'running' ? running(job, pods, held, facts) : complete(job, pods, facts);
}

/** The pods that tell how a Job ended. Their news may come later than the Job's: then the server itself is asked. */
export function witnessesOf(pods: readonly Pod[], { endedPods }: Facts<JobFacts>): readonly Pod[] | undefined {
  if (hasSucceeded(pods)) return pods;
  return endedPods.state === 'known' ? endedPods.value : undefined;
}

/** What a program said at its end. */
function complete(job: Job, pods: readonly Pod[], facts: Facts<JobFacts>): InJob {
  const attempt = attemptIn(job);
  const witnesses = witnessesOf(pods, facts);
  if (!witnesses)
    return {
      at: 'loading',
      attempt,
      failed: job.status?.failed ?? 0,
      cause: undefined,
      late: undefined,
      since: undefined,
    };
  const word = lastWord(witnesses);
  if (word?.result === 'done') return { at: 'ready', digest: word.digest };
  if (witnesses.length === 0) return { at: 'restarting', cause: undefined, since: undefined };
  const message = `${objectOf(job)} ended without saying what it found`;
  return { at: 'failed', attempt, cause: { reason: 'NoResult', message, object: objectOf(job) } };
}

/** What holds up the pod that is there now; without one the failure of the last, which is tried again and has no deadline. */
function running(job: Job, pods: readonly Pod[], held: Cause | undefined, facts: Facts<JobFacts>): InJob {
  const here = pods.filter(({ metadata, status }) => !metadata.deletionTimestamp && !isOver(status?.phase));
  const loading = { at: 'loading', attempt: attemptIn(job), failed: job.status?.failed ?? 0 } as const;
  const [pod] = here;
  if (!pod) return { ...loading, cause: unmade(job, pods, facts), late: undefined, since: undefined };
  const waits = here.filter(({ status }) => status?.phase !== 'Running');
  const cause = held ?? causeOfPods(here) ?? podEventCause(pod, known(facts.podEvents));
  return { ...loading, cause, late: notReadyCause(waits), since: pod.metadata.creationTimestamp };
}

const isOver = (phase: string | undefined): boolean => phase === 'Failed' || phase === 'Succeeded';

const known = <T>(fact: Facts<{ list: T[] }>['list']): T[] => (fact.state === 'known' ? fact.value : []);

/** Why no pod is there: none could be made, or the last one failed. */
const unmade = (job: Job, pods: readonly Pod[], facts: Facts<JobFacts>): Cause | undefined =>
  pods.length === 0 ? makerEventCause(job, known(facts.jobEvents)) : retried(job, pods);

function retried(job: Job, pods: readonly Pod[]): Cause | undefined {
  const word = lastWord(pods);
  const object = objectOf(job);
  if (word?.result === 'verdict') return { reason: word.verdict, message: word.message, object };
  if (word?.result !== 'fault') return jobCause(job, pods);
  return { reason: `${workOf(job)}Retrying`, message: `${word.message} (${attempts(job)}, it is tried again)`, object };
}

/** The program's own verdict says more than the Job's count of failures. */
export function failureOf(job: Job, pods: readonly Pod[]): Cause {
  const object = objectOf(job);
  const word = lastWord(pods);
  if (word?.result === 'verdict') return { reason: word.verdict, message: word.message, object };
  if (word?.result === 'fault')
    return { reason: `${workOf(job)}Failed`, message: `${word.message} (${attempts(job)}${timeIn(job)})`, object };
  return jobCause(job, pods) ?? { reason: `${workOf(job)}Failed`, message: `${object} failed`, object };
}

/** The word for what a Job does. */
const workOf = ({ metadata }: Job): string =>
  metadata.labels?.['app.kubernetes.io/component'] === 'inspect' ? 'Inspection' : 'Download';

const attempts = ({ status }: Job): string =>
  status?.failed === 1 ? '1 attempt failed' : `${status?.failed ?? 0} attempts failed`;

/** Without it, nobody would see why there was no further attempt. */
const timeIn = ({ status }: Job): string =>
  status?.conditions?.some(({ type, reason }) => type === 'Failed' && reason === 'DeadlineExceeded')
    ? ', and its time is over'
    : '';

const objectOf = ({ metadata }: Job): string => `Job ${metadata.name}`;

/** What the newest pod that ended said. */
export function lastWord(pods: readonly Pod[]): LastWord | undefined {
  const age = ({ metadata }: Pod) => `${metadata.creationTimestamp} ${metadata.name}`;
  for (const pod of pods.toSorted((a, b) => (age(a) < age(b) ? 1 : -1))) {
    const [program] = pod.status?.containerStatuses ?? [];
    const word = heardLastWord(program?.state?.terminated?.message);
    if (word) return word;
  }
  return undefined;
}
