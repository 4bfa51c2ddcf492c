// What compressed bodies may cost: the memory that they are given, whatever they hide.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { Refusal } from './refusal.ts';
import { unpacked } from './unpack.ts';

const limit = 1_000_000;
const hidden = Buffer.alloc(limit, 'x');

/** Memory that somebody shares with others. */
function memoryOf(most: number) {
  const memory = { taken: 0, asked: 0 };
  const reserve = (bytes: number) => {
    memory.asked += bytes;
    if (memory.taken + bytes > most) return false;
    memory.taken += bytes;
    return true;
  };
  return { memory, reserve };
}

describe('a compressed body', () => {
  for (const [encoding, body] of Object.entries({ gzip: gzipSync(hidden), deflate: deflateSync(hidden) }))
    test(`takes memory for all that it is, as ${encoding}`, async () => {
      const { memory, reserve } = memoryOf(limit);
      deepEqual(await unpacked(body, encoding, { limit, reserve }), hidden);
      equal(memory.taken, limit);
    });

  test('is unpacked no further than there is memory', async () => {
    const { memory, reserve } = memoryOf(limit / 10);
    equal(await unpacked(gzipSync(hidden), 'gzip', { limit, reserve }), 'no room');
    ok(memory.taken <= limit / 10);
    ok(memory.asked < limit / 5, `asked for ${memory.asked} bytes`);
  });

  test('is unpacked no further than the limit', async () => {
    const { memory, reserve } = memoryOf(limit);
    const found = await unpacked(gzipSync(hidden), 'gzip', { limit: limit - 1, reserve });
    ok(found instanceof Refusal && found.status === 413);
    ok(memory.taken < limit);
  });

  test('that was cut is refused', async () => {
    const { reserve } = memoryOf(limit);
    const found = await unpacked(gzipSync(hidden).subarray(0, 500), 'gzip', { limit, reserve });
    ok(found instanceof Refusal && found.status === 400);
  });
});
