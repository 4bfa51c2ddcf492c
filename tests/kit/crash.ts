// A crash after every write of a life. Two lives without a fault say which writes there are; then every one of them is, in
// a life of its own, followed by SIGKILL: once when its answer has arrived, once before, once after it was refused by a
// conflict first. And a sample of crashes during the recovery from a crash. The same for every kind.

import { deepEqual } from 'node:assert/strict';
import fc from 'fast-check';
import type { Call, CallFilter, Plan, Rule } from '../../controlplane/faults/index.ts';
import { onLane } from './lane.ts';
import { live, type Outcome, sameAs, type Scene } from './story.ts';
import { sortOf, type Subject } from './subject.ts';

/** Lives at once. Each has its own namespace, proxy and operator. */
export const lanes = 5;

const seed = 20_260_102;

/** A life, and how often each rule of its plan acted. */
type Life = Outcome & { firings: readonly number[] };

/** The nth write of its sort. */
interface Point {
  write: CallFilter;
  nth: number;
}

const forms = {
  'and the answer arrived': ({ write, nth }: Point): Plan => [kill({ write, nth }, 'delivered')],
  'and the answer was lost': ({ write, nth }: Point): Plan => [kill({ write, nth }, 'applied')],
  'once a conflict had refused it': ({ write, nth }: Point): Plan => [
    { when: { write, nth }, do: { kind: 'status', reason: 'Conflict' } },
    kill({ write, nth: nth + 1 }, 'delivered'),
  ],
};

const kill = (when: Point, at: 'applied' | 'delivered'): Rule => ({ when, do: { kind: 'kill', at } });

/** Runs all plans as tests of their own; `pairs` is the share of all pairs of writes that is tried. */
export async function crashAfterEveryWrite(scene: Scene, { pairs }: { pairs: number }): Promise<void> {
  const { t, subject } = scene;
  const given = process.env['CRASH_PLAN'];
  const references = await Promise.all([lifeUnder([], scene), lifeUnder([], scene)]);
  const [reference] = references;
  for (const other of references) sameAs(reference, other, subject);
  if (given !== undefined) {
    await check('the given plan', JSON.parse(given) as Plan, reference, scene);
    return;
  }
  const points = pointsOf(references.map(({ writes }) => writes));
  const single = points.flatMap((point) =>
    Object.entries(forms).map(([form, planOf]) => ({ name: `${words(point)}, ${form}`, plan: planOf(point) })),
  );
  const sure = points.filter((point) => !isOptional(point, subject)).length;
  const plans = [...single, ...pairsOf(sure, pairs)];
  const fired = await Promise.all(plans.map(({ name, plan }) => check(name, plan, reference, scene)));
  t.diagnostic(
    `${points.length} writes (${sure} in every life), ${plans.length} plans, ${fired.filter(Boolean).length} crashed as planned`,
  );
}

/** Runs one plan as a test; whether all its rules acted. */
async function check(name: string, plan: Plan, reference: Life, scene: Scene): Promise<boolean> {
  const idle: Rule[] = [];
  await scene.t.test(name, async () => {
    try {
      const life = await lifeUnder(plan, scene);
      sameAs(reference, life, scene.subject);
      idle.push(...plan.filter((_, index) => life.firings[index] === 0));
      const late = idle.filter(({ when }) => !('write' in when && isOptional({ nth: 1, ...when }, scene.subject)));
      deepEqual(late, [], 'a rule never acted');
    } catch (error) {
      throw new Error(`to see it again: CRASH_PLAN='${JSON.stringify(plan)}'`, { cause: error });
    }
  });
  return idle.length === 0;
}

const lifeUnder = (plan: Plan, { rig, subject }: Scene): Promise<Life> =>
  onLane(rig, { subject }, async (lane) => {
    lane.proxy.setPlan(plan, lane.operator);
    return { ...(await live(lane)), firings: lane.proxy.firings() };
  });

/** Every write that any of the lives had. */
function pointsOf(lives: Call[][]): Point[] {
  const points = new Map<string, Point>();
  for (const writes of lives) {
    const counts = new Map<string, number>();
    for (const call of writes) {
      const write = sortOf(call);
      const text = JSON.stringify(write);
      const nth = (counts.get(text) ?? 0) + 1;
      counts.set(text, nth);
      points.set(`${text} ${nth}`, { write, nth });
    }
  }
  return [...points.values()];
}

const words = ({ write: { verb, resource, subresource, name, fieldManager }, nth }: Point): string =>
  [
    verb,
    subresource ? `${String(resource)}/${String(subresource)}` : resource,
    name,
    fieldManager && `by ${String(fieldManager)}`,
  ]
    .filter(Boolean)
    .join(' ') + (nth > 1 ? ` (${nth})` : '');

/** How often a status is written depends on what is seen of the way; but each spec has at least one of its own. */
const isOptional = ({ write, nth }: Point, { life }: Subject): boolean =>
  write.subresource === 'status' && nth > life.length;

/** Two crashes, the second while the operator recovers from the first. */
function pairsOf(writes: number, share: number): { name: string; plan: Plan }[] {
  const count = Math.round(((writes * (writes - 1)) / 2) * share);
  if (count === 0) return [];
  const moment = fc.constantFrom('applied' as const, 'delivered' as const);
  const far = Math.min(5, writes - 1); // a short life has no room for more
  const one = fc.tuple(fc.integer({ min: 1, max: writes - far }), fc.integer({ min: 1, max: far }), moment, moment);
  return fc.sample(one, { seed, numRuns: count }).map(([first, more, at, again]) => ({
    name: `write ${first} (${at}) and write ${first + more} (${again}) of a life`,
    plan: [kill({ write: {}, nth: first }, at), kill({ write: {}, nth: first + more }, again)],
  }));
}
