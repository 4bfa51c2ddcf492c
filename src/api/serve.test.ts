// What the operator says the server hears; what nobody could mean is refused by name.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { heardServe, serveArguments, serveDefaults, type ServeOrder } from './serve.ts';

const order: fc.Arbitrary<ServeOrder> = fc.record(
  {
    model: fc.string({ minLength: 1 }),
    name: fc.string(),
    port: fc.integer({ min: 0, max: 65_535 }),
    host: fc.constantFrom('127.0.0.1', '::1'),
    threads: fc.integer({ min: 1, max: 64 }),
    bodyLimit: fc.integer({ min: 1_024, max: 2 ** 30 }),
    batching: fc.constantFrom('auto' as const, 'off' as const),
    batchRows: fc.integer({ min: 1, max: 1_000 }),
    queue: fc.integer({ min: 1, max: 1_000 }),
    drainSeconds: fc.integer({ min: 0, max: 100 }),
  },
  {
    requiredKeys: ['model', 'name', 'port', 'bodyLimit', 'batching', 'batchRows', 'queue', 'drainSeconds'],
    noNullPrototype: true,
  },
);

describe('the order to serve', () => {
  test('is heard as it was said', () => {
    fc.assert(fc.property(order, (said) => deepEqual(heardServe(serveArguments(said)), { order: said })));
  });

  test('needs only the weights', () => {
    deepEqual(heardServe(['--model=/m']), { order: { ...serveDefaults, model: '/m' } });
  });

  const wrong: [args: string[], says: RegExp][] = [
    [[], /--model is missing/],
    [['--model=/m', '--port=x'], /--port must be a whole number from 0 to 65535, not "x"/],
    [['--model=/m', '--port=70000'], /--port must/],
    [['--model=/m', '--threads=0'], /--threads must/],
    [['--model=/m', '--batching=maybe'], /--batching must be auto or off/],
    [['--model=/m', '--mood=good'], /--mood/],
    [['--model=/m', 'more'], /more/],
  ];
  for (const [args, says] of wrong)
    test(`is refused as ${JSON.stringify(args)}`, () => {
      const heard = heardServe(args);
      ok('wrong' in heard);
      match(heard.wrong, says);
      equal('order' in heard, false);
    });
});
