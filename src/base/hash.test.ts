import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { canonical, hashOf } from './index.ts';

/** The same value with the keys of every object in the opposite order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, reordered(inner)]);
  return Object.fromEntries(entries.toReversed());
}

describe('canonical', () => {
  test('is the same whatever the order of keys, at every depth', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => equal(canonical(reordered(value)), canonical(value))));
  });

  test('loses nothing that JSON keeps', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) =>
        deepEqual(JSON.parse(canonical(value)), JSON.parse(JSON.stringify(value))),
      ),
    );
  });

  test('sorts the keys of objects and leaves the order of lists alone', () => {
    equal(canonical({ b: 1, a: [{ d: 2, c: 3 }, 1, 0] }), '{"a":[{"c":3,"d":2},1,0],"b":1}');
  });

  test('leaves out undefined members, so an optional field that is not set changes no hash', () => {
    equal(canonical({ a: 1, b: undefined }), canonical({ a: 1 }));
  });
});

describe('hashOf', () => {
  test('is sixteen hexadecimal digits', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => match(hashOf(value), /^[0-9a-f]{16}$/)));
  });

  test('stays what it was: it is stored in objects, and another value would rewrite every child', () => {
    equal(hashOf({ image: 'serve:1', replicas: 2 }), hashOf({ replicas: 2, image: 'serve:1' }));
    equal(hashOf({ a: 1 }), '015abd7f5cc57a2d');
  });

  test('tells the order of a list, a number and its text apart', () => {
    notEqual(hashOf([1, 2]), hashOf([2, 1]));
    notEqual(hashOf({ a: 1 }), hashOf({ a: '1' }));
  });
});
