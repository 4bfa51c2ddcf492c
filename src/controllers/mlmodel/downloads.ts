// The Jobs that fetch weights onto a claim.

import { mark, type Progress } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { Job } from '../../objects/index.ts';
import { byName, lastWord, podsOf } from '../../serving/index.ts';

/** The Jobs that fill a claim. */
export const jobsFor = (claim: string, seen: Observed): Job[] =>
  byName(seen.all(Job).filter(({ metadata }) => metadata.labels?.[mark.weights] === claim));

/** What a download that has ended well fetched onto a claim. */
export function fetchedOnto(claim: string, seen: Observed): Progress | undefined {
  const word = lastWord(jobsFor(claim, seen).flatMap((job) => podsOf(job, seen)));
  return word?.result === 'done' ? { bytes: word.bytes, total: word.bytes } : undefined;
}
