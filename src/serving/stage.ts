// Where a parent with servers is: one word for people. What takes longer than the deadline allows, and cannot go on by
// itself, has failed until somebody changes something.

import { type Cause, isRefusal } from '../objects/index.ts';
import type { Sized } from './parent.ts';
import type { Rollout } from './rollout.ts';

/** `Failed` is stalled; everything before `Ready` is on its way, under the names that a kind has for that. */
export type Stage<Way extends string = string> =
  | Going<Way>
  | { name: 'Ready'; idle: boolean }
  | { name: 'Failed'; cause: Cause };

export interface Going<Way extends string = string> {
  name: Way;
  cause: Cause | undefined;
}

/** The stage, and when the deadline of this stage ends. */
export interface Standing<Way extends string = string> {
  stage: Stage<Way>;
  /** Milliseconds until the deadline, if one is running. */
  left?: number;
}

/** When a stage began, what it waits for without being held up, and how long it may. */
export interface Limit {
  since: string | undefined;
  late: Cause | undefined;
  seconds: number;
  now: number;
}

/** Whether a stage goes on; it is `Going` unless it has failed. */
export const isGoing = <Way extends string>(stage: Stage<Way>): stage is Going<Way> =>
  stage.name !== 'Ready' && stage.name !== 'Failed';

/** A stage that something holds up fails at the deadline, one that is refused at once; one that just takes its time does not. */
export function bounded<Way extends string>(stage: Going<Way>, { since, late, seconds, now }: Limit): Standing<Way> {
  if (stage.cause && isRefusal(stage.cause)) return { stage: { name: 'Failed', cause: stage.cause } };
  const cause = stage.cause ?? late;
  if (!cause || since === undefined) return { stage };
  const left = Date.parse(since) + seconds * 1_000 - now;
  return left > 0 ? { stage, left } : { stage: { name: 'Failed', cause } };
}

const tooLate: Cause = {
  reason: 'ProgressDeadlineExceeded',
  message: 'The servers did not become ready in time',
  object: 'Deployment',
};

/** How far the servers are, once they can start: while a revision takes over, the Deployment keeps the time; afterwards it says nothing about servers that fail. */
export function servingStage<Way extends string>(
  name: Way,
  { spec, asked, rollout, now }: { spec: Sized; asked: string; rollout: Rollout; now: number },
): Standing<Way> {
  if (rollout.told !== asked) return { stage: { name, cause: undefined } };
  if (rollout.complete) return { stage: { name: 'Ready', idle: spec.replicas === 0 } };
  const { cause, since, takingOver, late = tooLate } = rollout;
  if (takingOver === 'overdue') return { stage: { name: 'Failed', cause: cause ?? late } };
  if (mayYield(spec, rollout)) return { stage: { name, cause } };
  const seconds = spec.rollout.progressDeadlineSeconds;
  return bounded({ name, cause }, { since: takingOver === 'done' ? since : undefined, late, seconds, now });
}

/** Without a place beside the old servers the new ones take theirs, sooner or later: that is no end before the deadline. */
const mayYield = (spec: Sized, { takeover, takingOver, older, hindrance }: Rollout): boolean =>
  spec.rollout.strategy === 'auto' &&
  takingOver !== 'done' &&
  (older || takeover === 'oneByOne' || takeover === 'move') &&
  hindrance !== undefined;
