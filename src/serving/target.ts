// What the servers should run now, how many of them, and by which way they get there. What is asked, once it can start;
// until then what answers, and never anything that lacks what it needs.

import type { Observed } from '../kube/define.ts';
import type { Sized } from './parent.ts';
import { type Revision, revisionsIn } from './revision.ts';
import type { Hindrance, Rollout } from './rollout.ts';
import type { Running, Takeover } from './server.ts';

/** What the Deployment should be told; `left`: milliseconds after which that may change by time alone. */
export interface Target<R extends Revision = Revision> extends Running {
  revision: R;
  /** The pods stay what they are, whatever the revision says of them. */
  asItRuns: boolean;
  left: number | undefined;
}

/** What a target is chosen from. */
export interface Choice<R extends Revision> {
  asked: R;
  /** Whether what is asked has all that it needs. */
  isFed: boolean;
  /** The same of any revision. */
  canStart: (revision: R) => boolean;
  /** Nothing answers, and servers that cannot start are in the way of what they wait for. */
  isClearing: boolean;
  rollout: Rollout;
}

/** The target; undefined while there is nothing to serve, or what serves must be left as it is. */
export function targetOf<R extends Revision>(
  spec: Sized,
  choice: Choice<R>,
  seen: Observed,
  now: number,
): Target<R> | undefined {
  const { rollout } = choice;
  const known = revisionsIn<R>(seen);
  const chosen = servable(choice, known) ?? abandoned(rollout, known);
  if (!chosen) return undefined;
  const { revision, asItRuns } = chosen;
  const fed = choice.canStart(revision) || needsNothing(revision, choice);
  const replicas = fed && !choice.isClearing ? spec.replicas : 0;
  const { takeover, left } = takeoverFor(spec, revision.name, rollout, now);
  return { revision, asItRuns, replicas, takeover, left, served: servedBefore(revision.name, rollout) };
}

/** Servers that answer have read what they need already. */
const needsNothing = <R extends Revision>({ name }: R, { asked, isFed, rollout }: Choice<R>): boolean =>
  rollout.serving.includes(name) || (name === asked.name && isFed);

type Chosen<R extends Revision> = Pick<Target<R>, 'revision' | 'asItRuns'>;

function servable<R extends Revision>(
  { asked, isFed, canStart, rollout }: Choice<R>,
  known: readonly R[],
): Chosen<R> | undefined {
  if (isFed) return anew(asked);
  const told = known.find(({ name }) => name === rollout.told);
  if (told && canStart(told)) return anew(told);
  if (told && rollout.serving.includes(told.name)) return running(told, rollout);
  // Somebody removed the Deployment: what it ran comes back. With one there is no going back unasked, unless it is half-way.
  if (rollout.told === undefined) return anew(known.find(canStart));
  return anew(rollout.serving.flatMap((name) => known.find((revision) => revision.name === name) ?? [])[0]);
}

const anew = <R extends Revision>(revision: R | undefined): Chosen<R> | undefined =>
  revision && { revision, asItRuns: false };

/** What was told has lost what it needs, and nothing answers: its servers must not start without. */
function abandoned<R extends Revision>(rollout: Rollout, known: readonly R[]): Chosen<R> | undefined {
  const told = known.find(({ name }) => name === rollout.told);
  return told && rollout.serving.length === 0 ? running(told, rollout) : undefined;
}

/** Without what it needs nothing new is rolled out, not even if somebody removed the revision and it was cut anew. */
const running = <R extends Revision>(revision: R, { template = revision.template }: Rollout): Chosen<R> => ({
  revision: { ...revision, template },
  asItRuns: true,
});

/** Seconds for which a server may wait for a place, in which an autoscaler or a pod that ends may make one. */
const patience = 10;

/** How the revision takes over: where it cannot start beside the old one, in its place. That is decided once for each revision. */
export function takeoverFor(
  { rollout: { strategy } }: Sized,
  target: string,
  rollout: Rollout,
  now: number,
): { takeover: Takeover; left: number | undefined } {
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
