import { equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { heardLastWord, heardProgress } from '../../src/api/index.ts';
import { downloads, lastWord, progressAfter } from './downloads.ts';

describe('a simulated download', () => {
  test('begins with nothing and ends with everything', () => {
    equal(heardProgress(progressAfter(0))?.bytes, 0);
    equal(heardProgress(progressAfter(downloads.seconds * 1_000))?.bytes, downloads.bytes);
    equal(heardProgress(progressAfter(10 ** 9))?.bytes, downloads.bytes);
  });

  test('only ever adds to what it has printed, so that somebody can follow it', () => {
    const moment = fc.integer({ min: -1_000, max: 30_000 });
    fc.assert(
      fc.property(moment, moment, fc.integer({ min: 1, max: 20_000 }), (a, b, whole) => {
        const [early, late] = [Math.min(a, b), Math.max(a, b)].map((ms) => progressAfter(ms, whole));
        ok(late?.startsWith(early ?? '?'));
      }),
    );
  });

  test('has a last word that the operator understands', () => equal(heardLastWord(lastWord)?.result, 'done'));
});
