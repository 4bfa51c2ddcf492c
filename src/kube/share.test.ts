import { deepEqual, equal, notEqual, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { shareParts } from './share.ts';

/** A fresh copy, as parsing gives it. */
const parsed = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

function shared<T extends object>(value: T): T {
  const copy = parsed(value);
  shareParts(copy);
  return copy;
}

const sevenTimes = ['x', 'x', 'x', 'x', 'x', 'x', 'x'];

describe('parts of parsed objects', () => {
  test('whatever is shared with whatever, every object stays what it was', () => {
    const few = fc.constantFrom('', 'a', 'b', '__proto__', 'toString', '0', '1');
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 0.5, 2 ** 40, '', 'a', 'b'),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(few, tie('json'), { maxKeys: 3 }),
      ),
    }));
    const objects = fc.array(fc.dictionary(few, json, { maxKeys: 4 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(objects, (all) => deepEqual(all.map(shared), all.map(parsed))),
      { numRuns: 2_000 },
    );
  });

  test('equal ones are one', () => {
    const one = shared({ spec: { probe: { path: '/ready', codes: [200, 204] } }, name: 'one' });
    const other = shared({ spec: { probe: { path: '/ready', codes: [200, 204] } }, name: 'other' });
    equal(one.spec, other.spec);
  });

  for (const [name, a, b] of [
    ['another value', { x: 1 }, { x: 2 }],
    ['another name', { x: 1 }, { y: 1 }],
    // These three fall on one slot of the table, so that only the comparison tells them apart.
    ['a member less', { x: 1, y: -6540 }, { x: 1 }],
    ['a member more', { x: 2 }, { x: 2, y: -6570 }],
    ['a list for a record', Object.fromEntries(sevenTimes.entries()), sevenTimes],
    ['an item more', ['x'], ['x', 'x']],
    ['another order of items', ['x', 'y'], ['y', 'x']],
    ['a text for a number', { x: '1' }, { x: 1 }],
    ['null for false', { x: null }, { x: false }],
  ] as const) {
    test(`${name} makes another part`, () => {
      const one = shared({ part: a });
      const other = shared({ part: b });
      notEqual(one.part, other.part);
      deepEqual([one, other], [parsed({ part: a }), parsed({ part: b })]);
    });
  }

  test('nobody can change what others hold as well', () => {
    const object = shared({ spec: { args: ['a'] } });
    throws(() => object.spec.args.push('b'), TypeError);
    throws(() => Object.assign(object.spec, { more: true }), TypeError);
    throws(() => Object.assign(object, { status: {} }), TypeError);
  });
});

test('long texts, and parts that hold them, are not held on to', () => {
  const long = 'x'.repeat(1_000);
  const [one, other] = [shared({ data: { long, kept: { a: 'b' } } }), shared({ data: { long, kept: { a: 'b' } } })];
  equal(one.data === other.data, false);
  equal(one.data.kept, other.data.kept, 'what is light is shared all the same');
});

test('an empty list is frozen from the first one on', () => {
  const { list } = shared({ list: [] as string[] });
  throws(() => list.push('mine'), TypeError);
});
