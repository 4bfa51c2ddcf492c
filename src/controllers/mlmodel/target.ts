// What the servers should run now, how many of them, and by which way they get there. What is asked, once its weights are
// there; until then what answers, and never anything without its weights.

import type { MLModel } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { type Revision, revisionsIn } from './revision.ts';
import type { Hindrance, Rollout } from './rollout.ts';
import type { Running, Takeover } from './server.ts';
import { hasWeights, usersOf } from './volume.ts';
import type { Weights } from './weights.ts';

/** What the Deployment should be told; `left`: milliseconds after which that may change by time alone. */
export interface Target extends Running {
  revision: Revision;
  /** The pods stay what they are, whatever the revision says of them. */
  asItRuns: boolean;
  left: number | undefined;
}

/** What a target is chosen from. */
export interface Choice {
  asked: Revision;
  weights: Weights;
  rollout: Rollout;
}

/** The target; undefined while there is nothing to serve, or what serves must be left as it is. */
export function targetOf(model: MLModel, choice: Choice, seen: Observed, now: number): Target | undefined {
  const { rollout } = choice;
  const chosen = servable(choice, seen) ?? abandoned(rollout, seen);
  if (!chosen) return undefined;
  const { revision, asItRuns } = chosen;
  const fed = hasWeights(revision, seen) || isFed(revision, choice);
  const replicas = fed && !isClearing(choice, seen) ? model.spec.replicas : 0;
  const { takeover, left } = takeoverFor(model, revision.name, rollout, now);
  return { revision, asItRuns, replicas, takeover, left, served: servedBefore(revision.name, rollout) };
}

/** Servers that answer have read their weights already; what is asked has them by the word of its download. */
const isFed = ({ name }: Revision, { asked, weights, rollout }: Choice): boolean =>
  rollout.serving.includes(name) || (name === asked.name && weights.at === 'ready');

/** Nothing answers, and servers that cannot start keep a volume from going that must be made anew. */
const isClearing = ({ asked, weights, rollout }: Choice, seen: Observed): boolean =>
  weights.at === 'leaving' &&
  rollout.serving.length === 0 &&
  usersOf(asked.source.claim ?? '', 'server', seen).length > 0;

type Chosen = Pick<Target, 'revision' | 'asItRuns'>;

function servable({ asked, weights, rollout }: Choice, seen: Observed): Chosen | undefined {
  if (weights.at === 'ready') return anew(asked);
  const known = revisionsIn(seen);
  const told = known.find(({ name }) => name === rollout.told);
  if (told && hasWeights(told, seen)) return anew(told);
  if (told && rollout.serving.includes(told.name)) return running(told, rollout);
  // Somebody removed the Deployment: what it ran comes back. With one there is no going back unasked, unless it is half-way.
  if (rollout.told === undefined) return anew(known.find((revision) => hasWeights(revision, seen)));
  return anew(rollout.serving.flatMap((name) => known.find((revision) => revision.name === name) ?? [])[0]);
}

const anew = (revision: Revision | undefined): Chosen | undefined => revision && { revision, asItRuns: false };

/** What was told has lost its weights, and nothing answers: its servers must not start on an empty volume. */
function abandoned(rollout: Rollout, seen: Observed): Chosen | undefined {
  const told = revisionsIn(seen).find(({ name }) => name === rollout.told);
  return told && rollout.serving.length === 0 ? running(told, rollout) : undefined;
}

/** Without its weights nothing new is rolled out, not even if somebody removed the revision and it was cut anew. */
const running = (revision: Revision, { template = revision.template }: Rollout): Chosen => ({
  revision: { ...revision, template },
  asItRuns: true,
});

/** Seconds for which a server may wait for a place, in which an autoscaler or a pod that ends may make one. */
const patience = 10;

/** How the revision takes over: where it cannot start beside the old one, in its place. That is decided once for each revision. */
export function takeoverFor(
  model: MLModel,
  target: string,
  rollout: Rollout,
  now: number,
): { takeover: Takeover; left: number | undefined } {
  const { strategy } = model.spec.rollout;
  if (strategy !== 'auto') return { takeover: strategy, left: undefined };
  const { told, older, hindrance } = rollout;
  if (told !== target) return { takeover: 'surge', left: undefined };
  if (rollout.takeover === 'move') return { takeover: 'move', left: undefined };
  const takeover = rollout.takeover === 'oneByOne' ? 'oneByOne' : 'surge';
  const next = hindrance && ways[hindrance.by];
  if (!older || !next || next === takeover) return { takeover, left: undefined };
  const left = (Date.parse(hindrance.since) || 0) + patience * 1_000 - now;
  return left > 0 ? { takeover, left } : { takeover: next, left: undefined };
}

const ways: Record<Hindrance['by'], Takeover> = { room: 'oneByOne', others: 'move' };

/** As many as history can ever ask for, and the one that is asked. */
const mostServed = 11;

/** What the servers ran counts if it had arrived before they are told something else. */
function servedBefore(target: string, { told, takingOver, served, serving }: Rollout): string[] {
  if (told === target || told === undefined) return [...served];
  const arrived = takingOver === 'done' || (serving.length === 1 && serving[0] === told);
  return [...new Set(arrived ? [told, ...served] : served)].slice(0, mostServed);
}
