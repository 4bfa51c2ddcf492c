import { equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { delayAfter } from './index.ts';

const limits = { first: 100, most: 30_000 };

describe('delayAfter', () => {
  const steps = [
    { failures: 0, step: 100 },
    { failures: 1, step: 100 },
    { failures: 2, step: 200 },
    { failures: 5, step: 1_600 },
    { failures: 9, step: 25_600 },
    { failures: 10, step: 30_000 },
    { failures: 1_000_000, step: 30_000 },
  ];
  for (const { failures, step } of steps) {
    test(`after ${failures} failures it lies between ${step / 2} and ${step} ms`, () => {
      equal(
        delayAfter(failures, limits, () => 0),
        step / 2,
      );
      equal(
        delayAfter(failures, limits, () => 1),
        step,
      );
    });
  }

  test('is never zero, never over the limit, and grows until it gets there', () => {
    const given = fc.record({
      failures: fc.nat(),
      first: fc.integer({ min: 1, max: 10_000 }),
      most: fc.integer({ min: 10_000, max: 600_000 }),
      chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(given, ({ failures, first, most, chance }) => {
        const after = (count: number) => delayAfter(count, { first, most }, () => chance);
        ok(after(failures) > 0 && after(failures) <= most);
        ok(after(failures + 1) >= after(failures));
      }),
    );
  });
});
