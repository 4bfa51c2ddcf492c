// Where a model is: one word for people, judged from weights and servers.

import type { MLModel } from '../../api/index.ts';
import type { Cause } from '../../objects/index.ts';
import { bounded, type Going, servingStage, type Stage as StageOf, type Standing } from '../../serving/index.ts';
import type { Plan } from './wanted.ts';

type Way = 'Pending' | 'CreatingStorage' | 'Downloading' | 'Serving';
export type Stage = StageOf<Way>;

/** Where the model is now. */
export function stageOf(model: MLModel, plan: Plan, now: number): Standing<Way> {
  const { weights } = plan;
  const byDeadline = (stage: Going<Way>, since: string | undefined, late?: Cause) =>
    bounded<Way>(stage, { since, late, seconds: model.spec.rollout.progressDeadlineSeconds, now });
  if (weights.at === 'ready')
    return servingStage('Serving', { spec: model.spec, asked: plan.asked.name, rollout: plan.rollout, now });
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
