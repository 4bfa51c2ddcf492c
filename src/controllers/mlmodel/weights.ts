// How far the weights of a revision are, judged only from what lasts: the note on the claim outlives the Job, and the Job
// outlives its pods.

import { heardLastWord, type LastWord, mark, type MLModel } from '../../api/index.ts';
import type { Facts, Observed } from '../../kube/define.ts';
import {
  type Cause,
  causeOfPods,
  claimCause,
  Job,
  jobCause,
  jobResult,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../objects/index.ts';
import type { MLModelFacts } from './facts.ts';
import { attemptOf, type Source } from './source.ts';

/** The stages that weights go through; `recheck`: somebody removed the evidence, so the Job must say it again. */
export type Weights =
  | { at: 'ready'; digest: string | undefined }
  | { at: 'missing'; cause: Cause }
  | { at: 'binding'; cause: Cause | undefined; since: string | undefined }
  | { at: 'loading'; attempt: string; cause: Cause | undefined; failed: number; since: string | undefined }
  | { at: 'recheck' }
  | { at: 'failed'; attempt: string; cause: Cause };

/** Where the weights of a source are. */
export function weightsOf(model: MLModel, source: Source, seen: Observed, facts: Facts<MLModelFacts>): Weights {
  if (source.from === 'claim') return mounted(source.claim, seen);
  const claim = seen.get(PersistentVolumeClaim, source.claim);
  const digest = claim?.metadata.annotations?.[mark.digest];
  if (digest !== undefined) return { at: 'ready', digest };
  const jobs = seen.all(Job).filter((job) => job.metadata.labels?.[mark.weights] === source.claim);
  const live = jobs.find((job) => jobResult(job) !== 'failed');
  const attempt = attemptOf(model);
  if (live) return inJob(live, podsOf(live, seen), claim && unbound(claim, facts));
  const failed = jobs.find((job) => job.metadata.annotations?.[mark.attempt] === attempt);
  if (failed) return { at: 'failed', attempt, cause: failureOf(failed, podsOf(failed, seen)) };
  if (!claim) return { at: 'binding', cause: undefined, since: undefined };
  if (bindsFirst(claim, seen) && claim.status?.phase !== 'Bound') return binding(claim, facts);
  return { at: 'loading', attempt, cause: undefined, failed: 0, since: undefined };
}

/** Whether a claim is bound before a pod uses it. A class that we cannot see is taken as one that waits for a pod. */
const bindsFirst = (claim: PersistentVolumeClaim, seen: Observed): boolean =>
  seen.read(StorageClass, claim.spec.storageClassName ?? '')?.volumeBindingMode === 'Immediate';

function mounted(name: string, seen: Observed): Weights {
  if (seen.read(PersistentVolumeClaim, name)) return { at: 'ready', digest: undefined };
  const message = `The claim ${name} does not exist in this namespace: create it, or name another in modelURL`;
  return { at: 'missing', cause: { reason: 'ClaimNotFound', message, object: `PersistentVolumeClaim ${name}` } };
}

const binding = (claim: PersistentVolumeClaim, facts: Facts<MLModelFacts>): Weights => ({
  at: 'binding',
  cause: unbound(claim, facts),
  since: claim.metadata.creationTimestamp,
});

/** Why a claim is not bound, in the words of its events. */
function unbound(claim: PersistentVolumeClaim, facts: Facts<MLModelFacts>): Cause | undefined {
  if (claim.status?.phase === 'Bound') return undefined;
  return claimCause(claim, facts.claimEvents.state === 'known' ? facts.claimEvents.value : []);
}

/** What the program itself said tells most, then the volume that its pod waits for, then the pod. */
function inJob(job: Job, pods: readonly Pod[], volume: Cause | undefined): Weights {
  const attempt = job.metadata.annotations?.[mark.attempt] ?? '';
  const since = job.metadata.creationTimestamp;
  if (jobResult(job) === 'running')
    return {
      at: 'loading',
      attempt,
      cause: ownWords(pods) ?? volume ?? causeOfPods(pods),
      failed: job.status?.failed ?? 0,
      since,
    };
  const word = lastWord(pods);
  if (word?.result === 'done') return { at: 'ready', digest: word.digest };
  if (pods.length === 0) return { at: 'recheck' };
  const message = `The download ended without saying what it fetched: ${job.metadata.name}`;
  return { at: 'failed', attempt, cause: { reason: 'NoResult', message, object: `Job ${job.metadata.name}` } };
}

/** The program's own verdict says more than the Job's count of failures. */
function failureOf(job: Job, pods: readonly Pod[]): Cause {
  const object = `Job ${job.metadata.name}`;
  const word = lastWord(pods);
  if (word?.result === 'verdict') return { reason: word.verdict, message: word.message, object };
  if (word?.result === 'fault')
    return { reason: 'DownloadFailed', message: `${word.message} (after ${job.status?.failed ?? 0} attempts)`, object };
  return jobCause(job, pods) ?? { reason: 'DownloadFailed', message: `${object} failed`, object };
}

function ownWords(pods: readonly Pod[]): Cause | undefined {
  const word = lastWord(pods);
  if (!word || word.result === 'done') return undefined;
  const reason = word.result === 'verdict' ? word.verdict : 'DownloadRetrying';
  return { reason, message: word.message, object: 'download' };
}

/** What the newest pod that ended said. */
function lastWord(pods: readonly Pod[]): LastWord | undefined {
  const newest = pods.toSorted((a, b) =>
    (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1,
  );
  for (const pod of newest) {
    const word = heardLastWord(
      pod.status?.containerStatuses?.find(({ name }) => name === 'download')?.state?.terminated?.message,
    );
    if (word) return word;
  }
  return undefined;
}

export const podsOf = (job: Job, seen: Observed): Pod[] =>
  seen.labelled(Pod).filter(({ metadata }) => metadata.labels?.['batch.kubernetes.io/job-name'] === job.metadata.name);
