// What a person is told of servers: the summary, what answers, whether there will be a gap. Same world, same words: nothing
// from the clock, and only counts that were observed.

import type { Sized } from './parent.ts';
import type { Rollout } from './rollout.ts';
import { isGoing, type Stage } from './stage.ts';
import { type Verdict, verdict } from './verdict.ts';

/** The word of a stage. */
export function reasonOf(stage: Stage): string {
  if ('idle' in stage) return stage.idle ? 'ScaledToZero' : 'Serving';
  return stage.cause?.reason ?? stage.name;
}

/**
 * The revision that answers; while one takes over from another, the other. News of a Deployment may outrun that of its pods,
 * and where those come first, its own are a moment away: both are told at once.
 */
export function servingRevision({ serving, told, complete, available }: Rollout): string | undefined {
  const other = serving.find((name) => name !== told);
  if (other !== undefined || available === 0) return other;
  return serving[0] ?? (complete ? told : undefined);
}

/** What answers while something else is asked for. */
export function meanwhile(asked: string, rollout: Rollout): string {
  const serving = servingRevision(rollout);
  return serving !== undefined && serving !== asked ? `; revision ${serving} serves until then` : '';
}

/** What went wrong, and what answers in spite of it. */
export function failure({ cause }: Extract<Stage, { name: 'Failed' }>, rollout: Rollout): string {
  const serving = servingRevision(rollout);
  return `${cause.message}${serving === undefined ? '' : `; revision ${serving} serves`}`;
}

/** What a summary is made of. */
export interface Summary {
  stage: Stage;
  message: string;
  spec: Sized;
  rollout: Rollout;
}

/** Whether it is ready, whether we are at it, whether only somebody else can help, whether anything answers. */
export function summaryOf(told: Summary): Verdict[] {
  const { stage, message, rollout } = told;
  const reason = reasonOf(stage);
  return [
    verdict('Ready', stage.name === 'Ready', reason, message),
    reconciling(told),
    verdict('Stalled', stage.name === 'Failed', reason, message),
    availability(rollout),
  ];
}

/** Also while the last of several servers is on its way, and then it says what keeps it. */
function reconciling({ stage, message, spec: { replicas }, rollout: { available: now, cause } }: Summary): Verdict {
  if (stage.name !== 'Ready' || now >= replicas)
    return verdict('Reconciling', isGoing(stage), reasonOf(stage), message);
  const words = `${now} of ${replicas} servers answer${cause ? `: ${cause.message}` : ''}`;
  return verdict('Reconciling', true, 'Scaling', words);
}

function availability(rollout: Rollout): Verdict {
  const { available: count } = rollout;
  const serving = servingRevision(rollout);
  if (count === 0) return verdict('Available', false, 'NothingServes', 'No server answers');
  const which = serving === undefined ? '' : ` with revision ${serving}`;
  return verdict(
    'Available',
    true,
    'Serving',
    `${count === 1 ? '1 server answers' : `${count} servers answer`}${which}`,
  );
}

/** Whether today's operator would render the pods as they are. `what` is what a person would edit, `pods` what they call the pods. */
export const outdatedVerdict = (outdated: boolean, what: string, pods = 'servers'): Verdict =>
  outdated
    ? verdict(
        'Outdated',
        true,
        'NewerOperator',
        `This operator would run the ${pods} in another way: set the annotation baton.dev/refresh, or edit the ${what}, to roll them`,
      )
    : verdict('Outdated', false, 'UpToDate', `The ${pods} run as this operator would run them`);

/** Why a revision takes the place of the old one instead of starting beside it, and what that means. */
export function gap({ takingOver, takeover }: Rollout, { replicas, rollout: { strategy } }: Sized): string {
  if (takingOver !== 'going' || takeover === undefined || takeover === 'surge') return '';
  if (takeover === 'replace')
    return '; the new servers take the place of all old ones at once, as rollout.strategy asks: there is a gap';
  if (takeover === 'move')
    return '; the servers move to another node, and only one node at a time can mount the volume, so the old ones go first: there is a gap';
  const why = strategy === 'auto' ? ', because there is no room beside them' : '';
  return replicas > 1
    ? `; new servers take the place of old ones one by one${why}: one less answers meanwhile`
    : `; the new server takes the place of the old one${why.replace('them', 'it')}: there is a gap`;
}

/** The servers as a label selector, for the scale subresource. */
export const selectorOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
