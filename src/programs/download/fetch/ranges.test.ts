import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pieces, Ranges, type Stretch } from './ranges.ts';

const size = 60;
const stretch = fc.tuple(fc.nat(size), fc.nat(size)).map(([a, b]): Stretch => [Math.min(a, b), Math.max(a, b)]);

/** The same as a set of numbers. */
const numbers = (stretches: readonly Stretch[]) =>
  [...new Set(stretches.flatMap(([from, to]) => Array.from({ length: to - from }, (_, n) => from + n)))].toSorted(
    (a, b) => a - b,
  );

test('ranges hold what was added, sorted and joined', () => {
  fc.assert(
    fc.property(fc.array(stretch), (stretches) => {
      const ranges = new Ranges(stretches);
      const all = numbers(stretches);
      deepEqual(numbers(ranges.all), all);
      equal(ranges.size, all.length);
      ranges.all.forEach(([from], index) => equal(from > (ranges.all[index - 1]?.[1] ?? -1), true));
      const gap = all.findIndex((number, index) => number !== index);
      equal(ranges.frontier, gap < 0 ? all.length : gap);
    }),
  );
});

test('what is missing and what is there make the whole', () => {
  fc.assert(
    fc.property(fc.array(stretch), stretch, (stretches, [from, to]) => {
      const ranges = new Ranges(stretches);
      const missing = numbers(ranges.missing(from, to));
      const there = new Set(numbers(stretches));
      deepEqual(
        missing,
        numbers([[from, to]]).filter((number) => !there.has(number)),
      );
    }),
  );
});

test('pieces are the same bytes, none of them too large', () => {
  fc.assert(
    fc.property(stretch, fc.integer({ min: 1, max: 20 }), (whole, most) => {
      const cut = pieces([whole], most);
      deepEqual(numbers(cut), numbers([whole]));
      equal(
        cut.every(([from, to]) => to - from <= most && to > from),
        true,
      );
    }),
  );
});
