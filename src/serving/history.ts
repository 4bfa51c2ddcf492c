// Which former revisions stay, so that a person can go back: what serves, what pods still use, and as many more that could
// start as history asks for. What is older goes only when what is asked serves in its place.

import type { Observed } from '../kube/define.ts';
import type { Sized } from './parent.ts';
import { podsIn, revisionIn } from './pods.ts';
import { type Revision, revisionsIn } from './revision.ts';
import type { Rollout } from './rollout.ts';

/** What the former revisions are judged by. */
export interface Present<R extends Revision> {
  asked: R;
  /** What the servers should run. */
  target: Revision | undefined;
  rollout: Rollout;
  /** Whether a revision can be returned to. */
  isReturnable: (revision: R) => boolean;
}

/** The former revisions that are kept, in the order in which they served, the last first. */
export function formerRevisions<R extends Revision>(
  spec: Sized,
  { asked, target, rollout, isReturnable }: Present<R>,
  seen: Observed,
): R[] {
  const others = inOrder(
    revisionsIn<R>(seen).filter(({ name }) => name !== asked.name),
    rollout,
  );
  const arrived = rollout.told === asked.name && rollout.complete;
  const remembered = others.filter(isReturnable).slice(0, spec.rollout.history + (arrived ? 0 : 1));
  const inUse = new Set(podsIn(seen).map(revisionIn));
  const stays = ({ name }: Revision) => name === rollout.told || name === target?.name || inUse.has(name);
  return others.filter((revision) => stays(revision) || remembered.includes(revision));
}

/** What the servers run, then what served before it, then the rest from the newest. */
function inOrder<R extends Revision>(revisions: readonly R[], { told, served }: Rollout): R[] {
  const order = [told, ...served];
  const rank = ({ name }: Revision) => (order.includes(name) ? order.indexOf(name) : order.length);
  return revisions.toSorted((a, b) => rank(a) - rank(b));
}
