// What is made of figures: a glance at all goals for people, and a list with always the same fields for programs.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { atLeast, atMost, figureList, goalTable } from './figures.ts';

const figures = [
  atLeast(0.9, { name: 'download', value: 0.35, unit: 'ratio' }),
  atMost(1, { name: 'push', value: 1, unit: 'ratio' }),
  { name: 'curl', value: 512, unit: 'MB/s' },
];

test('a goal that is missed is shown as missed, and a figure without one is not judged', () => {
  const [title = '', , ...lines] = goalTable(figures).split('\n');
  equal(title, 'Goals: 1 of 2 met');
  deepEqual(
    lines.map((line) => line.split(/ {2,}/)),
    [
      ['download', '0.35', 'ratio', '>= 0.9', 'missed'],
      ['push', '1.00', 'ratio', '<= 1', 'met'],
    ],
  );
});

test('where nothing is judged there is no table of goals', () => equal(goalTable(figures.slice(2)), ''));

test('a program finds the same fields in every figure', () =>
  deepEqual(JSON.parse(figureList(figures)), [
    { name: 'download', value: 0.35, unit: 'ratio', goal: '>= 0.9', met: false },
    { name: 'push', value: 1, unit: 'ratio', goal: '<= 1', met: true },
    { name: 'curl', value: 512, unit: 'MB/s', goal: null, met: null },
  ]));
