// A model's life in random orders of events: edits, accidents, crashes, controllers that look late. What must hold always
// is in tests/kit/cluster/oracles.ts, what must hold at rest in still.ts.

import { test } from 'node:test';
import fc from 'fast-check';
import { happenings, names } from '../../../tests/kit/cluster/events.ts';
import { Life } from '../../../tests/kit/cluster/life.ts';
import { nobody, oracles } from '../../../tests/kit/cluster/oracles.ts';
import { checkRest, rest } from '../../../tests/kit/cluster/still.ts';

const schedules = Number(process.env['SCHEDULES'] ?? 10_000);
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

const served = new Life(nobody);
rest(served);

const happening = fc.tuple(fc.constantFrom(...names), fc.nat(11));
const schedule = fc.record({ fresh: fc.boolean(), steps: fc.array(happening, { maxLength: 40, size: 'max' }) });

test(`in any order of events a model stays honest, keeps what serves, and comes to rest (seed ${seed})`, (t) => {
  fc.assert(
    fc.property(schedule, ({ fresh, steps }) => {
      const life = fresh ? new Life(oracles) : served.fork(oracles);
      for (const [name, which] of steps) happenings[name]?.(life, which);
      rest(life);
      checkRest(life);
    }),
    { numRuns: schedules, seed },
  );
  t.diagnostic(`${schedules} schedules with seed ${seed}`);
});
