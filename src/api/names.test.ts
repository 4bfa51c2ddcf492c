// Names of children: legal everywhere, short enough for labels and host names, and never those of somebody else's.

import { equal, match, notEqual, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { childName, labelValue, parts, shortHash } from './names.ts';

/** Names that the API server lets our objects have. */
const parent = fc
  .stringMatching(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/)
  .filter((name) => !/\.\.|\.-|-\./.test(name) && name.length <= 63);
const hash = fc.stringMatching(/^[0-9a-f]{10}$/);
const part = fc.oneof(
  fc.constantFrom('service', 'expose', 'server', 'pdb'),
  hash,
  hash.map((digits) => `weights-${digits}`),
  hash.map((digits) => `download-${digits}-${digits.slice(0, 6)}`),
  hash.map((digits) => `inspect-${digits}`),
);

/** A Service's name must begin with a letter, which is more than other kinds ask for. */
const label = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

describe('the name of a child', () => {
  test('is a label of at most 63 characters that begins with a letter', () => {
    fc.assert(
      fc.property(parent, part, (name, suffix) => match(childName(name, suffix), label)),
      { numRuns: 2_000 },
    );
  });

  test('is the parent’s with the part behind it, if that is a name', () => {
    equal(childName('iris', 'service'), 'iris-service');
    equal(childName('i'.repeat(55), 'service').length, 63);
  });

  test('is nobody else’s', () => {
    fc.assert(
      fc.property(parent, parent, part, part, (one, other, first, second) => {
        if (one === other && first === second) return;
        notEqual(childName(one, first), childName(other, second));
      }),
      { numRuns: 3_000 },
    );
    for (const [one, other] of [
      ['a.b', 'a-b'],
      ['1a', 'm1a'],
      ['i'.repeat(62), 'i'.repeat(63)],
    ] as const)
      notEqual(childName(one, 'service'), childName(other, 'service'));
  });

  test('is told from others of the same kind of object by its part alone', () => {
    const all = Object.values(parts).flat();
    equal(new Set(all).size, all.length);
    ok(
      all.every((one) => !/^[0-9a-f]+$/.test(one)),
      'a part could be taken for the hash of a revision',
    );
  });
});

test('a hash is the same for the same content, whatever the order of its keys', () => {
  equal(shortHash({ a: 1, b: [2] }, 10), shortHash({ b: [2], a: 1 }, 10));
  notEqual(shortHash({ a: 1 }, 10), shortHash({ a: 2 }, 10));
  equal(shortHash('x', 6).length, 6);
});

test('a name of any length can be the value of a label, and two never meet', () => {
  const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,120}[a-z0-9])?$/);
  fc.assert(
    fc.property(name, name, (one, other) => {
      ok(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(labelValue(one)));
      equal(labelValue(one) === labelValue(other), one === other);
      if (one.length <= 63) equal(labelValue(one), one);
    }),
  );
});
