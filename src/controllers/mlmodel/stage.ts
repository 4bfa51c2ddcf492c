// Where a model is: one word for people, judged from weights and servers. What takes longer than the deadline allows, and
// cannot go on by itself, has failed until somebody changes something.

import type { MLModel } from '../../api/index.ts';
import type { Cause } from '../../objects/index.ts';
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

/** Where the model is now. */
export function stageOf(model: MLModel, { asked, weights, rollout }: Plan, now: number): Standing {
  switch (weights.at) {
    case 'missing':
    case 'failed':
      return { stage: { name: 'Failed', cause: weights.cause } };
    case 'binding':
      return bounded({ name: 'CreatingStorage', cause: weights.cause }, weights.since, model, now);
    case 'recheck':
      return { stage: { name: 'Downloading', cause: undefined } };
    case 'loading':
      return bounded({ name: 'Downloading', cause: weights.cause }, weights.since, model, now);
    case 'ready':
      return { stage: servingStage(model, asked.name, rollout) };
  }
}

/** A stage that something holds up fails at the deadline; one that just takes its time does not. */
function bounded(
  stage: Extract<Stage, { cause: Cause | undefined }>,
  since: string | undefined,
  model: MLModel,
  now: number,
): Standing {
  if (!stage.cause || since === undefined) return { stage };
  const left = Date.parse(since) + model.spec.rollout.progressDeadlineSeconds * 1_000 - now;
  return left > 0 ? { stage, left } : { stage: { name: 'Failed', cause: stage.cause } };
}

function servingStage(model: MLModel, asked: string, rollout: Plan['rollout']): Stage {
  if (rollout.told !== asked) return { name: 'Serving', cause: undefined };
  if (rollout.complete) return { name: 'Ready', idle: model.spec.replicas === 0 };
  if (!rollout.overdue) return { name: 'Serving', cause: rollout.cause };
  const cause = rollout.cause ?? {
    reason: 'ProgressDeadlineExceeded',
    message: 'The servers did not become ready in time',
    object: 'Deployment',
  };
  return { name: 'Failed', cause };
}
