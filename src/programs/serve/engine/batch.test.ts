// A row must come out where it went in: for every type, any number of requests, any number of rows.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type DataType, makerOf, type Tensor } from '../protocol/types.ts';
import { joined, rowsOf, split } from './batch.ts';

const types: DataType[] = ['BOOL', 'INT8', 'INT64', 'UINT16', 'UINT64', 'FP16', 'FP32', 'FP64', 'BYTES'];

/** Elements that tell where they come from. */
function tensor(type: DataType, shape: readonly number[], from: number): Tensor {
  const size = shape.reduce((product, one) => product * one, 1);
  const values = Array.from({ length: size }, (_, index) => (from * 31 + index) % 100);
  if (type === 'BYTES') return { type, shape, data: values.map(String) };
  const data = new (makerOf(type))(size);
  values.forEach((value, index) => {
    data[index] = data instanceof BigInt64Array || data instanceof BigUint64Array ? BigInt(value) : value;
  });
  return { type, shape, data };
}

describe('a batch', () => {
  test('gives every request its own rows back', () => {
    const rest = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 });
    const counts = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.constantFrom(...types), rest, counts, (type, width, rows) => {
        const parts = rows.map((count, index) => tensor(type, [count, ...width], index));
        deepEqual(split(joined(parts), rows), parts);
      }),
      { numRuns: 1_000 },
    );
  });

  test('is not cut where the rows do not add up', () => {
    equal(split(tensor('FP32', [3, 2], 0), [1, 1]), undefined);
    equal(split(tensor('FP32', [], 0), [1]), undefined);
  });

  test('has rows only where all inputs agree', () => {
    equal(rowsOf([tensor('FP32', [3, 2], 0), tensor('INT64', [3], 0)]), 3);
    equal(rowsOf([tensor('FP32', [3, 2], 0), tensor('INT64', [2], 0)]), undefined);
    equal(rowsOf([tensor('FP32', [], 0)]), undefined);
    equal(rowsOf([]), undefined);
  });
});
