// A model's life in random orders of events: edits, accidents, crashes, controllers that look late. What must hold always
// is in tests/kit/cluster/oracles.ts, what must hold at rest in still.ts; oracles.test.ts shows that they notice faults.
// SEED and SCHEDULES in the environment repeat a run, or make it longer.

import { ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anything, harmless } from '../../../tests/kit/cluster/events.ts';
import type { Life } from '../../../tests/kit/cluster/life.ts';
import { oracles } from '../../../tests/kit/cluster/oracles.ts';
import { beginning, play, schedulesOf } from '../../../tests/kit/cluster/schedules.ts';
import { checkRest, rest } from '../../../tests/kit/cluster/still.ts';
import { isReady } from '../../../tests/kit/cluster/workloads.ts';
import { Pod } from '../../objects/index.ts';

/** The same schedules on every run; another seed, from outside, searches further. */
const seed = Number(process.env['SEED'] ?? 20_261_116);
const times = Number(process.env['SCHEDULES'] ?? 10_000);

test(`in any order of events a model stays honest, keeps what serves, and comes to rest (seed ${seed})`, (t) => {
  const holds = fc.property(schedulesOf(anything), (schedule) => {
    const life = beginning(schedule, oracles);
    play(life, schedule);
    rest(life);
    checkRest(life);
  });
  fc.assert(holds, { numRuns: times, seed });
  t.diagnostic(`${times} schedules with seed ${seed}`);
});

test(`edits and trouble with what is new never leave a model without an answer (seed ${seed})`, () => {
  const answers = ({ model, store }: Life) => {
    // Zero servers and a replacement of all at once are gaps that a person asked for.
    const asked = model.spec.replicas === 0 || model.spec.rollout.strategy === 'replace';
    ok(asked || store.all(Pod).some(isReady), 'nothing answers');
  };
  const holds = fc.property(schedulesOf(harmless), ({ steps }) => {
    const kind = steps.filter(([name, which]) => !(name === 'replicas' && which % 4 === 0) && name !== 'strategy');
    play(beginning({ fresh: false }, oracles), { fresh: false, steps: kind }, answers);
  });
  fc.assert(holds, { numRuns: Math.ceil(times / 5), seed });
});
