// What is behind the name of an image. A tag is looked up once for each revision, which then holds the digest; until that
// is known nothing is cut, and what serves goes on. The registry is asked by the operator itself; where it wants to know
// who asks, by a short Job, because only pods see Secrets.

import type { Facts, Observed } from '../kube/define.ts';
import { type Cause, Job, jobResult, type Pod } from '../objects/index.ts';
import { failureOf, inJob, type JobFacts, lastWord, podsOf, witnessesOf } from './jobs.ts';
import type { Looked } from './registry.ts';

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

/** What a registry tells of an image. */
export type Image = Extract<Looked, { digest: string }>;

/** What is asked, by whom, and in which Job. */
export interface Question {
  image: string;
  job: string;
  /** Whether a pod has pull secrets, or other credentials, that the operator does not. */
  hasPullSecrets: boolean;
  hasCredentials: boolean;
  /** What helps where the operator cannot look, in words behind the cause. */
  wayOut?: string;
}

export type LookFacts = JobFacts & { manifest: Looked };

/** Nothing is known, and nothing is wrong. */
export const untold: Looking = {
  at: 'looking',
  inspecting: false,
  cause: undefined,
  late: undefined,
  since: undefined,
};

/** What is known of an image. */
export function imageBehind(question: Question, seen: Observed, facts: Facts<LookFacts>): Image | Looking | Unread {
  const job = seen.get(Job, question.job);
  return job ? inspected(job, seen, facts) : asked(question, facts);
}

/** What the operator itself was answered. */
function asked(question: Question, { manifest }: Facts<LookFacts>): Image | Looking | Unread {
  if (manifest.state === 'failed') return unreachable(question, manifest);
  if (manifest.state !== 'known') return untold;
  if ('digest' in manifest.value) return manifest.value;
  const { refused: reason, message } = manifest.value;
  if (mayInspect(question, reason)) return { ...untold, inspecting: true };
  const advice = adviceFor(question, reason);
  const object = objectOf(question);
  return { at: 'unread', inspecting: false, cause: { reason, message: `${message}${advice}`, object } };
}

/** A pod may know more than the operator: who we are, and whom to trust. Some registries hide what is private: 404. */
const mayInspect = ({ hasPullSecrets, hasCredentials }: Question, reason: string): boolean =>
  (['SourceUnauthorized', 'SourceNotFound'].includes(reason) && (hasPullSecrets || hasCredentials)) ||
  (reason === 'SourceTLSError' && hasCredentials);

/** Nodes may be trusted by, or reach, what the operator is not or does not. */
function adviceFor({ wayOut = '' }: Question, reason: string): string {
  if (reason === 'SourceUnauthorized') return '; name a Secret for its registry in imagePullSecrets';
  if (reason === 'SourceNotFound') return lookedForAgain;
  return reason === 'SourceTLSError' || reason === 'EgressDenied' ? wayOut : '';
}

/** An image may be pushed after it was named. The operator asks for it again, and a Job that ended is removed and made anew. */
const lookedForAgain =
  '; it is looked for again every few minutes, and at once with another value of the annotation baton.dev/retry';

const objectOf = ({ image }: Question): string => `Image ${image}`;

function unreachable(question: Question, { why, lasting }: { why: string; lasting?: true }): Looking | Unread {
  const object = objectOf(question);
  const cause = {
    reason: 'ImageUnreadable',
    message: `${object} cannot be looked at: ${why}${question.wayOut ?? ''}`,
    object,
  };
  return lasting ? { at: 'unread', inspecting: false, cause } : { ...untold, cause };
}

/** What the Job was answered, in the last word of its pod. */
function inspected(job: Job, seen: Observed, facts: Facts<LookFacts>): Image | Looking | Unread {
  const pods = podsOf(job, seen);
  if (jobResult(job) === 'failed') return { at: 'unread', inspecting: true, cause: refusalOf(job, pods) };
  const word = jobResult(job) === 'complete' ? lastWord(witnessesOf(pods, facts) ?? []) : undefined;
  if (word?.result === 'done' && word.mountable !== undefined)
    return { digest: word.digest, bytes: word.bytes, mountable: word.mountable };
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
