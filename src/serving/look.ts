// What is behind the name of an image. A tag is looked up once for each revision, which then holds the digest; until that
// is known nothing is cut, and what serves goes on. The registry is asked by the operator itself; where it wants to know
// who asks, by a short Job, because only pods see Secrets.

import type { LastWord } from '../api/index.ts';
import type { Facts, Known, Observed } from '../kube/define.ts';
import { type Cause, Job, jobResult, type Pod } from '../objects/index.ts';
import { failureOf, inJob, type JobFacts, lastWord, podsOf, witnessesOf } from './jobs.ts';
import type { Refused, Resolved } from './registry.ts';

/** `looking`: it goes on by itself. `inspecting`: a Job asks, or has asked. */
export type Looking = {
  at: 'looking';
  inspecting: boolean;
  cause: Cause | undefined;
  late: Cause | undefined;
  since: string | undefined;
};

/** It does not go on by itself. */
export type Unread = { at: 'unread'; inspecting: boolean; cause: Cause };

/** What is asked, by whom, and in which Job; `F` is what is found. */
export interface Question<F> {
  image: string;
  job: string;
  /** Whether a pod has pull secrets, or other credentials, that the operator does not. */
  hasPullSecrets: boolean;
  hasCredentials: boolean;
  /** What helps where the operator cannot look, in words behind the cause. */
  wayOut?: string;
  /** What the Job found, in its last word. */
  heard: (word: Done) => F | undefined;
}

type Done = Extract<LastWord, { result: 'done' }>;

export type LookFacts<L extends Resolved> = JobFacts & { manifest: L };

/** Nothing is known, and nothing is wrong. */
export const untold: Looking = {
  at: 'looking',
  inspecting: false,
  cause: undefined,
  late: undefined,
  since: undefined,
};

/** What is known of an image. */
export function imageBehind<F extends { digest: string }>(
  question: Question<F>,
  seen: Observed,
  facts: Facts<LookFacts<F | Refused>>,
): F | Looking | Unread {
  const job = seen.get(Job, question.job);
  return job ? inspected(job, question, seen, facts) : asked(question, facts.manifest);
}

/** What the operator itself was answered. */
function asked<F>(question: Question<F>, manifest: Known<F | Refused>): F | Looking | Unread {
  if (manifest.state === 'failed') return unreachable(question, manifest);
  if (manifest.state !== 'known') return untold;
  if (!isRefused(manifest.value)) return manifest.value;
  const { refused: reason, message } = manifest.value;
  if (mayInspect(question, reason)) return { ...untold, inspecting: true };
  const advice = adviceFor(question, reason);
  const object = objectOf(question);
  return { at: 'unread', inspecting: false, cause: { reason, message: `${message}${advice}`, object } };
}

const isRefused = (answer: unknown): answer is Refused =>
  typeof answer === 'object' && answer !== null && 'refused' in answer;

/** A pod may know more than the operator: who we are, and whom to trust. Some registries hide what is private: 404. */
const mayInspect = ({ hasPullSecrets, hasCredentials }: Question<unknown>, reason: string): boolean =>
  (['SourceUnauthorized', 'SourceNotFound'].includes(reason) && (hasPullSecrets || hasCredentials)) ||
  (reason === 'SourceTLSError' && hasCredentials);

/** Nodes may be trusted by, or reach, what the operator is not or does not. */
function adviceFor({ wayOut = '' }: Question<unknown>, reason: string): string {
  if (reason === 'SourceUnauthorized') return '; name a Secret for its registry in imagePullSecrets';
  if (reason === 'SourceNotFound') return lookedForAgain;
  return reason === 'SourceTLSError' || reason === 'EgressDenied' ? wayOut : '';
}

/** An image may be pushed after it was named. The operator asks for it again, and a Job that ended is removed and made anew. */
const lookedForAgain =
  '; it is looked for again every few minutes, and at once with another value of the annotation baton.dev/retry';

const objectOf = ({ image }: Question<unknown>): string => `Image ${image}`;

function unreachable(question: Question<unknown>, { why, lasting }: { why: string; lasting?: true }): Looking | Unread {
  const object = objectOf(question);
  const cause = {
    reason: 'ImageUnreadable',
    message: `${object} cannot be looked at: ${why}${question.wayOut ?? ''}`,
    object,
  };
  return lasting ? { at: 'unread', inspecting: false, cause } : { ...untold, cause };
}

/** What the Job was answered, in the last word of its pod. */
function inspected<F>(job: Job, { heard }: Question<F>, seen: Observed, facts: Facts<JobFacts>): F | Looking | Unread {
  const pods = podsOf(job, seen);
  if (jobResult(job) === 'failed') return { at: 'unread', inspecting: true, cause: refusalOf(job, pods) };
  const word = jobResult(job) === 'complete' ? lastWord(witnessesOf(pods, facts) ?? []) : undefined;
  const found = word?.result === 'done' ? heard(word) : undefined;
  if (found !== undefined) return found;
  const standing = inJob(job, undefined, seen, facts);
  if (standing.at === 'loading') return { ...standing, at: 'looking', inspecting: true };
  return standing.at === 'failed' ? { ...standing, at: 'unread', inspecting: true } : untold;
}

function refusalOf(job: Job, pods: readonly Pod[]): Cause {
  const cause = failureOf(job, pods);
  return cause.reason === 'SourceNotFound' ? { ...cause, message: `${cause.message}${lookedForAgain}` } : cause;
}

/** The name of an image by its digest alone: a tag could be another one tomorrow. */
export const pinned = (image: string, digest: string): string =>
  `${image.replace(/@.*$/, '').replace(/:[^/:]*$/, '')}@${digest}`;
