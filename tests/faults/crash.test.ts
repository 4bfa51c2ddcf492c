// A crash after every write of a Trio's life. Two lives without a fault say which writes there are; then every one of
// them is, in a life of its own, followed by SIGKILL: once when its answer has arrived, once before, once after it was
// refused by a conflict first. And a sample of crashes during the recovery from a crash.

import { deepEqual, ok } from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Call, CallFilter, Plan, Rule } from '../../controlplane/faults/index.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { live, onLane, type Outcome } from '../kit/story.ts';

/** Lives at once. Each has its own namespace, proxy and operator. */
const lanes = 5;
const seed = 20_260_102;

let rig: Rig;
before(async () => void (rig = await startRig()));
after(() => rig.stop());

/** A life, and how often each rule of its plan acted. */
type Life = Outcome & { firings: readonly number[] };

/** The nth write of its sort. How often a status is written depends on what the servers say meanwhile. */
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

test('a crash after every write', { concurrency: lanes }, async (t) => {
  const given = process.env['CRASH_PLAN'];
  const references = await Promise.all([lifeUnder([]), lifeUnder([])]);
  const [reference] = references;
  for (const other of references) sameAs(reference, other);
  if (given !== undefined) {
    await check(t, 'the given plan', JSON.parse(given) as Plan, reference);
    return;
  }
  const points = pointsOf(references.map(({ writes }) => writes));
  const single = points.flatMap((point) =>
    Object.entries(forms).map(([form, planOf]) => ({ name: `${words(point)}, ${form}`, plan: planOf(point) })),
  );
  const plans = [...single, ...pairs(points.length)];
  const fired = await Promise.all(plans.map(({ name, plan }) => check(t, name, plan, reference)));
  t.diagnostic(`${points.length} writes, ${plans.length} plans, ${fired.filter(Boolean).length} crashed as planned`);
});

/** Runs one plan as a test; whether all its rules acted. */
async function check(t: TestContext, name: string, plan: Plan, reference: Life): Promise<boolean> {
  let acted = false;
  await t.test(name, async () => {
    try {
      const life = await lifeUnder(plan);
      sameAs(reference, life);
      acted = life.firings.every((count) => count > 0);
      ok(acted || isOptional(plan), 'a rule never acted');
    } catch (error) {
      throw new Error(`to see it again: CRASH_PLAN='${JSON.stringify(plan)}'`, { cause: error });
    }
  });
  return acted;
}

const lifeUnder = (plan: Plan): Promise<Life> =>
  onLane(rig, {}, async (lane) => {
    lane.proxy.setPlan(plan, lane.operator);
    return { ...(await live(lane)), firings: lane.proxy.firings() };
  });

function sameAs(reference: Life, life: Life): void {
  const { state, births, forgotten, lies, late } = life;
  const expected = { state: reference.state, births: reference.births, forgotten: ['thing'], lies: [], late: [] };
  deepEqual({ state, births, forgotten, lies, late }, expected);
}

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

/** The name of an Event holds a UID and differs from life to life. */
const sortOf = ({ verb, resource, subresource, name, fieldManager }: Call): CallFilter =>
  resource === 'events'
    ? { verb, resource }
    : { verb, resource, subresource, name, ...(fieldManager && { fieldManager }) };

const words = ({ write: { verb, resource, subresource, fieldManager }, nth }: Point): string =>
  [
    verb,
    subresource ? `${String(resource)}/${String(subresource)}` : resource,
    fieldManager && `by ${String(fieldManager)}`,
  ]
    .filter(Boolean)
    .join(' ') + (nth > 1 ? ` (${nth})` : '');

/** Whether a life may have passed without the occasion that the plan waits for. */
const isOptional = (plan: Plan): boolean => plan.length > 1 || JSON.stringify(plan).includes('"subresource":"status"');

/** Two crashes, the second while the operator recovers from the first: a tenth of all pairs of writes. */
function pairs(writes: number): { name: string; plan: Plan }[] {
  const moment = fc.constantFrom('applied' as const, 'delivered' as const);
  const one = fc.tuple(fc.integer({ min: 1, max: writes - 3 }), fc.integer({ min: 1, max: 5 }), moment, moment);
  const count = Math.round((writes * (writes - 1)) / 2 / 10);
  return fc.sample(one, { seed, numRuns: count }).map(([first, more, at, again]) => ({
    name: `write ${first} (${at}) and write ${first + more} (${again}) of a life`,
    plan: [kill({ write: {}, nth: first }, at), kill({ write: {}, nth: first + more }, again)],
  }));
}
