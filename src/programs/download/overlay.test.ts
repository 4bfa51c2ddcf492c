// What is left when layers lie over each other.

import { deepEqual, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Files, layOver, putOver } from './overlay.ts';

const layerOf = (index: number, paths: readonly string[]): Files => new Map(paths.map((path) => [path, `${index}`]));

describe('a layer', () => {
  const rows: [string, string[][], string[]][] = [
    [
      'adds and replaces',
      [
        ['a', 'b/c'],
        ['a', 'b/d'],
      ],
      ['a 1', 'b/c 0', 'b/d 1'],
    ],
    ['takes a file away', [['a', 'b/c'], ['b/.wh.c']], ['a 0']],
    ['takes a folder away with all in it', [['b/c/d', 'bc'], ['.wh.b']], ['bc 0']],
    [
      'empties a folder for what it adds',
      [
        ['b/c', 'b/d/e', 'x'],
        ['b/.wh..wh..opq', 'b/c'],
      ],
      ['b/c 1', 'x 0'],
    ],
    [
      'empties everything',
      [
        ['a', 'b/c'],
        ['.wh..wh..opq', 'd'],
      ],
      ['d 1'],
    ],
    ['puts a file where a folder was', [['a/b/c', 'a/b/d', 'x'], ['a/b']], ['a/b 1', 'x 0']],
    ['puts a folder where a file was', [['a', 'x'], ['a/b/c']], ['a/b/c 1', 'x 0']],
    ['does not take away what it adds itself', [['a'], ['.wh.a', 'a']], ['a 1']],
  ];
  for (const [what, layers, expected] of rows)
    test(what, () => {
      const files: Files = new Map();
      for (const [index, paths] of layers.entries()) layOver(files, layerOf(index, paths));
      deepEqual([...files].map((pair) => pair.join(' ')).toSorted(), expected);
    });
});

test('files of their own replace folders, and may be named like a mark', () => {
  const files = layerOf(0, ['models/model.onnx', 'a', 'x']);
  putOver(files, layerOf(1, ['models', 'a/b', '.wh.x']));
  deepEqual([...files].map((pair) => pair.join(' ')).toSorted(), ['.wh.x 1', 'a/b 1', 'models 1', 'x 0']);
});

test('as many files as may be there are laid over as many in seconds', () => {
  const many = (name: string) => Array.from({ length: 100_000 }, (_, index) => `${name}/${index % 100}/${index}`);
  const files: Files = new Map();
  const began = performance.now();
  layOver(files, layerOf(0, many('a')));
  layOver(files, layerOf(1, many('b')));
  ok(files.size === 200_000 && performance.now() - began < 10_000);
});
