// Which former revisions stay, so that a person can go back: what serves, what pods still use, and as many more with their
// weights as history asks for. What is older goes only when what is asked serves in its place.

import { mark, type MLModel } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { type Revision, revisionsIn } from './revision.ts';
import type { Rollout } from './rollout.ts';
import { hasWeights, podsIn } from './volume.ts';

/** The former revisions that are kept, in the order in which they served, the last first. */
export function formerRevisions(
  model: MLModel,
  { asked, target, rollout }: { asked: Revision; target: Revision | undefined; rollout: Rollout },
  seen: Observed,
): Revision[] {
  const others = inOrder(
    revisionsIn(seen).filter(({ name }) => name !== asked.name),
    rollout,
  );
  const arrived = rollout.told === asked.name && rollout.complete;
  // What shares the volume of what is asked gets its weights with it, if it has them not yet or not any more.
  const { claim } = asked.source;
  const shares = ({ source }: Revision) => claim !== undefined && source.claim === claim;
  const returnable = others.filter((one) => shares(one) || hasWeights(one, seen));
  const remembered = returnable.slice(0, model.spec.rollout.history + (arrived ? 0 : 1));
  const inUse = new Set(podsIn(seen).map(({ metadata }) => metadata.labels?.[mark.revision]));
  const stays = ({ name }: Revision) => name === rollout.told || name === target?.name || inUse.has(name);
  return others.filter((revision) => stays(revision) || remembered.includes(revision));
}

/** What the servers run, then what served before it, then the rest from the newest. */
function inOrder(revisions: readonly Revision[], { told, served }: Rollout): Revision[] {
  const order = [told, ...served];
  const rank = ({ name }: Revision) => (order.includes(name) ? order.indexOf(name) : order.length);
  return revisions.toSorted((a, b) => rank(a) - rank(b));
}
