// What somebody who looks on is told of a model: how far its download is, and whether it is Ready for what is asked now.

import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import type { MLModel } from '../../src/api/index.ts';
import { sightOf } from './life.ts';

const modelWith = (status: object): MLModel =>
  ({ metadata: { name: 'iris', generation: 2 }, status: { phase: 'Downloading', ...status } }) as unknown as MLModel;

const downloading = (bytes: number, total: number) =>
  modelWith({ message: 'on its way', download: { bytes, total, percent: Math.floor((100 * bytes) / total) } });

for (const [bytes, total, words] of [
  [150 * 2 ** 20, 300 * 2 ** 20, '150/300 MiB'],
  [3 * 2 ** 10, 5 * 2 ** 10, '3/5 KiB'],
  [412, 824, '412/824 bytes'],
  [0, 0, '0/0 bytes'],
] as const)
  test(`a download of ${total} bytes is told as ${words}`, () =>
    equal(sightOf(downloading(bytes, total)).line.endsWith(`  on its way, ${words}`), true));

test('how far the download is stays in sight until the phase is another', () => {
  const before = sightOf(downloading(1, 2));
  match(sightOf(modelWith({}), before).line, / 50 % .*1\/2 bytes$/);
  equal(sightOf(modelWith({ phase: 'Serving' }), before).download, undefined);
});

test('only a condition about what is asked now is a verdict', () => {
  const verdictAt = (observedGeneration: number, type: string) =>
    sightOf(modelWith({ conditions: [{ type, status: 'True', observedGeneration }] })).verdict;
  equal(verdictAt(1, 'Ready'), 'going on');
  equal(verdictAt(2, 'Ready'), 'ready');
  equal(verdictAt(1, 'Stalled'), 'going on');
  equal(verdictAt(2, 'Stalled'), 'stalled');
});
