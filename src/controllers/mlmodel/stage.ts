// Where a model is: one word for people, judged from weights and servers. What takes longer than the deadline allows, and
// cannot go on by itself, has failed until somebody changes something.

import type { MLModel } from '../../api/index.ts';
import { type Cause, isRefusal } from '../../objects/index.ts';
import type { Rollout } from './rollout.ts';
import type { Plan } from './wanted.ts';

/** `Failed` is stalled; everything before `Ready` is on its way. */
export type Stage =
  | { name: 'Pending' | 'CreatingStorage' | 'Downloading' | 'Serving'; cause: Cause | undefined }
  | { name: 'Ready'; idle: boolean }
  | { name: 'Failed'; cause: Cause };

/** The stage, and when the deadline of this stage ends. */
export interface Standing {
  stage: Stage;
  /** Milliseconds until the deadline, if one is running. */
  left?: number;
}

type Going = Extract<Stage, { cause: Cause | undefined }>;

/** Where the model is now. */
export function stageOf(model: MLModel, plan: Plan, now: number): Standing {
  const { weights } = plan;
  const byDeadline = (stage: Going, since: string | undefined, late?: Cause) =>
    bounded(stage, { since, late, seconds: model.spec.rollout.progressDeadlineSeconds, now });
  if (weights.at === 'ready') return servingStage(model, plan, byDeadline);
  if (stillServes(plan)) return { stage: { name: 'Ready', idle: false } };
  switch (weights.at) {
    case 'missing':
    case 'unread':
    case 'failed':
      return { stage: { name: 'Failed', cause: weights.cause } };
    case 'leaving':
      if (weights.held) return { stage: { name: 'Failed', cause: weights.cause } };
      return byDeadline({ name: 'CreatingStorage', cause: weights.cause }, weights.since);
    case 'looking':
      return byDeadline({ name: 'Pending', cause: weights.cause }, weights.since, weights.late);
    case 'absent':
      return { stage: { name: 'Pending', cause: undefined } };
    case 'binding':
      return byDeadline({ name: 'CreatingStorage', cause: weights.cause }, weights.since, weights.late);
    case 'restarting':
      return byDeadline({ name: 'Downloading', cause: weights.cause }, weights.since);
    case 'loading':
      return byDeadline({ name: 'Downloading', cause: weights.cause }, weights.since, weights.late);
  }
}

/** Servers that have read their weights go on, though the volume is on its way out. */
const stillServes = ({ asked, weights, rollout }: Plan): boolean =>
  (weights.at === 'leaving' || weights.at === 'missing') &&
  rollout.told === asked.name &&
  rollout.complete &&
  rollout.serving.includes(asked.name);

/** A stage that something holds up fails at the deadline, one that is refused at once; one that just takes its time does not. */
function bounded(
  stage: Going,
  { since, late, seconds, now }: { since: string | undefined; late: Cause | undefined; seconds: number; now: number },
): Standing {
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

/** While a revision takes over, the Deployment keeps the time; afterwards it says nothing about servers that fail. */
function servingStage(
  { spec }: MLModel,
  { asked, rollout }: Plan,
  byDeadline: (stage: Going, since: string | undefined, late?: Cause) => Standing,
): Standing {
  if (rollout.told !== asked.name) return { stage: { name: 'Serving', cause: undefined } };
  if (rollout.complete) return { stage: { name: 'Ready', idle: spec.replicas === 0 } };
  const { cause, since, takingOver, late = tooLate } = rollout;
  if (takingOver === 'overdue') return { stage: { name: 'Failed', cause: cause ?? late } };
  if (mayYield(spec, rollout)) return { stage: { name: 'Serving', cause } };
  return byDeadline({ name: 'Serving', cause }, takingOver === 'done' ? since : undefined, late);
}

/** Without a place beside the old servers the new ones take theirs, sooner or later: that is no end before the deadline. */
const mayYield = (spec: MLModel['spec'], { takeover, older, hindrance }: Rollout): boolean =>
  spec.rollout.strategy === 'auto' &&
  (older || takeover === 'oneByOne' || takeover === 'move') &&
  hindrance !== undefined;
