// The one sentence and the one word of a status: what is going on, what it waits for, what answers meanwhile, and whether
// there will be a gap.

import type { MLModel } from '../../api/index.ts';
import type { Stage } from './stage.ts';
import type { Plan } from './wanted.ts';

/** The word of a stage. */
export function reasonOf(stage: Stage): string {
  if (stage.name === 'Ready') return stage.idle ? 'ScaledToZero' : 'Serving';
  return stage.cause?.reason ?? stage.name;
}

/**
 * The revision that answers; while one takes over from another, the other. News of a Deployment may outrun that of its pods,
 * and where those come first, its own are a moment away: both are told at once.
 */
export function servingRevision({ rollout: { serving, told, complete, available } }: Plan): string | undefined {
  const other = serving.find((name) => name !== told);
  if (other !== undefined || available === 0) return other;
  return serving[0] ?? (complete ? told : undefined);
}

/** The sentence. */
export function messageOf({ stage, plan, model }: { stage: Stage; plan: Plan; model: MLModel }): string {
  const serving = servingRevision(plan);
  const meanwhile =
    serving !== undefined && serving !== plan.asked.name ? `; revision ${serving} serves until then` : '';
  switch (stage.name) {
    case 'Ready':
      return stage.idle ? 'Scaled to zero: nothing serves, the weights are kept' : 'The model is served';
    case 'Failed':
      return `${stage.cause.message}${serving === undefined ? '' : `; revision ${serving} serves`}`;
    case 'Pending':
      return `${stage.cause?.message ?? waiting(plan)}${meanwhile}`;
    case 'CreatingStorage':
      return `${stage.cause?.message ?? 'Waiting for the volume to be bound'}${meanwhile}`;
    case 'Downloading':
      return `${stage.cause?.message ?? downloading(plan)}${meanwhile}`;
    case 'Serving':
      return `${stage.cause?.message ?? 'The servers are starting'}${gap(plan, model)}${meanwhile}`;
  }
}

function waiting({ weights }: Plan): string {
  if (weights.at !== 'looking') return 'Waiting for the volume to be made';
  return weights.inspecting
    ? 'A Job looks at the image of the weights, because its registry wants to know who asks'
    : 'The image of the weights is being looked at';
}

const downloading = ({ weights }: Plan): string =>
  weights.at === 'loading' && weights.failed > 0
    ? `The weights are being downloaded (failed before: ${weights.failed})`
    : 'The weights are being downloaded';

/** Why a revision takes the place of the old one instead of starting beside it, and what that means. */
function gap({ rollout }: Plan, { spec: { replicas, rollout: asked } }: MLModel): string {
  if (rollout.takingOver !== 'going' || rollout.takeover === undefined || rollout.takeover === 'surge') return '';
  if (rollout.takeover === 'replace')
    return '; the new servers take the place of all old ones at once, as rollout.strategy asks: there is a gap';
  if (rollout.takeover === 'move')
    return '; the servers move to another node, and only one node at a time can mount the volume, so the old ones go first: there is a gap';
  const why = asked.strategy === 'auto' ? ', because there is no room beside them' : '';
  return replicas > 1
    ? `; new servers take the place of old ones one by one${why}: one less answers meanwhile`
    : `; the new server takes the place of the old one${why.replace('them', 'it')}: there is a gap`;
}
