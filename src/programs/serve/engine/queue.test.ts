// Requests that run together: everybody gets the own result, nobody's fault is another's, and the bounds hold. The model here is a
// function; onnxruntime itself is asked in tests/programs.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Tensor } from '../protocol/types.ts';
import { Queue, type QueueOptions } from './queue.ts';

const floats = (values: readonly number[], width: number): Tensor => ({
  type: 'FP32',
  shape: [values.length / width, width],
  data: Float32Array.from(values),
});

/** Doubles every number, and remembers how many rows it was given each time. A thirteen is more than it can bear. */
function doubling(wait: () => Promise<unknown> = turn) {
  const runs: number[] = [];
  const run = async ([input]: readonly Tensor[]): Promise<Tensor[]> => {
    const values = numbersOf(input);
    runs.push(input?.shape[0] ?? 0);
    await wait();
    if (values.includes(13)) throw new Error('thirteen');
    return [{ type: 'FP32', shape: input?.shape ?? [], data: Float32Array.from(values, (value) => value * 2) }];
  };
  return { runs, run, release: async () => {} };
}

const queueOn = (runner: ConstructorParameters<typeof Queue>[0], more: Partial<QueueOptions> = {}) =>
  new Queue(runner, { rows: 8, length: 100, ran: () => {}, mixed: () => {}, now: () => 0, ...more });

const job = (input: Tensor, gone = () => false) => ({ inputs: [input], outputs: ['y'], gone });

/** The result of a request that is taken. */
function taken(result: ReturnType<Queue['submit']>): Promise<Tensor[]> {
  ok(result !== 'full');
  return result;
}

const numbersOf = (tensor: Tensor | undefined): number[] => Array.from((tensor?.data ?? []) as Float32Array);

describe('the queue', () => {
  test('never mixes results, whatever comes together', async () => {
    const request = fc.record({
      width: fc.integer({ min: 1, max: 2 }),
      rows: fc.integer({ min: 0, max: 10 }),
      late: fc.boolean(),
      poison: fc.integer({ min: 0, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 30 }), async (requests) => {
        const runner = doubling();
        const queue = queueOn(runner);
        const outcomes: Promise<unknown>[] = [];
        let next = 100;
        for (const { width, rows, late, poison } of requests) {
          if (late) await turn();
          const values = Array.from({ length: rows * width }, () => (next += 1));
          if (poison === 0 && values.length > 0) values[0] = 13;
          const result = taken(queue.submit(job(floats(values, width))));
          outcomes.push(
            values.includes(13)
              ? rejects(result, /thirteen/)
              : result.then(([output]) =>
                  deepEqual(
                    numbersOf(output),
                    values.map((value) => value * 2),
                  ),
                ),
          );
        }
        await Promise.all(outcomes);
        ok(runner.runs.every((rows) => rows <= 10));
        equal(queue.length, 0);
      }),
      { numRuns: 200 },
    );
  });

  test('runs together what has come meanwhile, up to the bound', async () => {
    const runner = doubling();
    const queue = queueOn(runner);
    const all = Array.from({ length: 20 }, (_, index) => taken(queue.submit(job(floats([index + 20], 1)))));
    await Promise.all(all);
    deepEqual(runner.runs, [8, 8, 4]);
  });

  test('runs a request alone at once when nobody waits', async () => {
    const runner = doubling();
    const queue = queueOn(runner);
    await taken(queue.submit(job(floats([1], 1))));
    await taken(queue.submit(job(floats([2, 3], 1))));
    deepEqual(runner.runs, [1, 2]);
  });

  test('runs one by one where it must not run together', async () => {
    const runner = doubling();
    const queue = queueOn(runner, { rows: 1 });
    await Promise.all([1, 2, 3].map((value) => taken(queue.submit(job(floats([value], 1))))));
    deepEqual(runner.runs, [1, 1, 1]);
  });

  test('stops running together once rows do not come out as they went in', async () => {
    const sum = async ([input]: readonly Tensor[]): Promise<Tensor[]> => [
      floats([numbersOf(input).reduce((total, one) => total + one, 0)], 1),
    ];
    let mixed = 0;
    const queue = queueOn({ run: sum, release: async () => {} }, { mixed: () => void (mixed += 1) });
    const results = await Promise.all([1, 2, 3].map((value) => taken(queue.submit(job(floats([value], 1))))));
    deepEqual(
      results.map(([output]) => numbersOf(output)),
      [[1], [2], [3]],
    );
    equal(mixed, 1);
  });

  test('takes no more than it may hold', async () => {
    const runner = doubling();
    const queue = queueOn(runner, { length: 2 });
    const [first, second, third] = [1, 2, 3].map((value) => queue.submit(job(floats([value], 1))));
    equal(third, 'full');
    await Promise.all([first, second]);
    ok(queue.submit(job(floats([4], 1))) !== 'full');
  });

  test('does not run for those who have left', async () => {
    const runner = doubling();
    const queue = queueOn(runner);
    await rejects(taken(queue.submit(job(floats([1], 1), () => true))), /left/);
    deepEqual(runner.runs, []);
  });
});
