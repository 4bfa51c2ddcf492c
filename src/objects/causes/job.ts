// Why a Job does not end well: its own verdict, and the pod that led to it.

import { type Job } from '../builtin.ts';
import { type Pod } from '../pod.ts';
import { type Cause, type CauseReason, firstOf, nameOf } from './cause.ts';
import { isLeaving, isOver } from './containers.ts';
import { causeOfPods, newestFirst, podCause } from './pods.ts';
import { sentence, steady } from './words.ts';

/** What keeps a Job from going on. While an attempt runs without trouble the failures before it are past. */
export function jobCause(job: Job, pods: readonly Pod[]): Cause | undefined {
  const verdict = (type: string) => job.status?.conditions?.find((one) => one.type === type && one.status === 'True');
  if (verdict('Complete') ?? verdict('SuccessCriteriaMet')) return undefined;
  const failure = verdict('Failed') ?? verdict('FailureTarget');
  if (failure) return failed(job, failure, pods);
  const here = pods.filter((pod) => !isOver(pod) && !isLeaving(pod));
  return here.length > 0 ? causeOfPods(here) : lastCause(pods);
}

/** The last attempt that has something to say. */
const lastCause = (pods: readonly Pod[]): Cause | undefined => firstOf(newestFirst(pods), podCause);

const reasons = new Map<string, CauseReason>([
  ['BackoffLimitExceeded', 'BackoffLimitExceeded'],
  ['DeadlineExceeded', 'DeadlineExceeded'],
]);

interface Verdict {
  reason: string;
  message: string;
}

function failed(job: Job, verdict: Verdict, pods: readonly Pod[]): Cause {
  const object = nameOf(job);
  const root = lastCause(pods);
  const words = wordsOf(job, verdict);
  if (root) return { ...root, message: `${object} failed (${steady(words) || verdict.reason}): ${root.message}` };
  return { reason: reasons.get(verdict.reason) ?? 'JobFailed', message: sentence(`${object} failed`, words), object };
}

/** The Job controller does not say how long a Job was given. */
function wordsOf({ spec: { activeDeadlineSeconds: seconds } }: Job, { reason, message }: Verdict): string {
  if (reason !== 'DeadlineExceeded' || seconds === undefined) return message;
  return `it took too long, and was stopped after ${Math.round(seconds / 60)} minutes`;
}
