// Random schedules: what happens in which order, from a model that is new or that serves already.

import fc from 'fast-check';
import { happenings } from './events.ts';
import { type Decider, Life, type Watcher } from './life.ts';
import { nobody } from './oracles.ts';
import { rest } from './still.ts';

export interface Schedule {
  /** Whether it begins with nothing. */
  fresh: boolean;
  steps: [name: string, which: number][];
}

/** Schedules of these happenings; a name that stands in the list more often happens more often. */
export const schedulesOf = (names: readonly string[]): fc.Arbitrary<Schedule> =>
  fc.record({
    fresh: fc.boolean(),
    steps: fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(11)), { maxLength: 40, size: 'max' }),
  });

const served = new Life(nobody);
rest(served);

/** A life at its beginning. */
export const beginning = ({ fresh }: Pick<Schedule, 'fresh'>, watcher: Watcher, decider?: Decider): Life =>
  fresh ? new Life(watcher, decider) : served.fork(watcher, decider);

/** Plays a schedule; `after` looks at the life after every step. */
export function play(life: Life, { steps }: Schedule, after: (life: Life) => void = () => {}): void {
  for (const [name, which] of steps) {
    happenings[name]?.(life, which);
    after(life);
  }
}
