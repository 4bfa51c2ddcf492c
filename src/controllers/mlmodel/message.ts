// The one sentence of a status: what is going on, what it waits for, what answers meanwhile, and whether there will be a gap.

import type { MLModel } from '../../api/index.ts';
import { failure, gap, meanwhile } from '../../serving/index.ts';
import type { Stage } from './stage.ts';
import type { Plan } from './wanted.ts';

/** The sentence. */
export function messageOf({ stage, plan, model }: { stage: Stage; plan: Plan; model: MLModel }): string {
  const until = meanwhile(plan.asked.name, plan.rollout);
  switch (stage.name) {
    case 'Ready':
      return stage.idle ? 'Scaled to zero: nothing serves, the weights are kept' : 'The model is served';
    case 'Failed':
      return failure(stage, plan.rollout);
    case 'Pending':
      return `${stage.cause?.message ?? waiting(plan)}${until}`;
    case 'CreatingStorage':
      return `${stage.cause?.message ?? 'Waiting for the volume to be bound'}${until}`;
    case 'Downloading':
      return `${stage.cause?.message ?? downloading(plan)}${until}`;
    case 'Serving':
      return `${stage.cause?.message ?? 'The servers are starting'}${gap(plan.rollout, model.spec)}${until}`;
  }
}

function waiting({ weights }: Plan): string {
  if (weights.at !== 'looking') return 'Waiting for the volume to be made';
  return weights.inspecting
    ? 'A Job looks at the image of the weights, because its registry may want to know who asks'
    : 'The image of the weights is being looked at';
}

const downloading = ({ weights }: Plan): string =>
  weights.at === 'loading' && weights.failed > 0
    ? `The weights are being downloaded (failed before: ${weights.failed})`
    : 'The weights are being downloaded';
