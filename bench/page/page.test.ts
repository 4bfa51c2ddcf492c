// The page and its picture show what was measured, and only that.

import { deepEqual, equal, match, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { filled } from './fill.ts';
import { picture } from './picture.ts';
import { contestantsTable, goalsTable } from './table.ts';

const told = (name: string, value: number) => ({ name: `models: ${name}`, value, unit: 's' });

test('each contestant has a bar, the longest for the most', () => {
  const drawn = picture([told('time to Ready, Baton', 50), told('time to Ready, Go', 100)]);
  match(drawn, /Baton<\/text><rect [^>]*width="165\.0"[^>]*fill="#2f6fb0"/);
  match(drawn, /Go<\/text><rect [^>]*width="330\.0"[^>]*fill="#9aa4af"/);
  match(drawn, /time to Ready, s</);
});

test('what was not measured has no panel', () => {
  const drawn = picture([told('own CPU, Baton', 1)]);
  equal(drawn.includes('time to Ready'), false);
  equal(drawn.includes('chain'), false);
});

test('a table has a column for each contestant and a line for each figure', () =>
  deepEqual(
    contestantsTable([
      told('time to Ready, Baton', 50),
      told('time to Ready, Go', 100),
      told('own CPU, Baton', 2),
    ]).split('\n'),
    ['|  | Baton | Go |', '| --- | ---: | ---: |', '| time to Ready, s | 50.0 | 100 |', '| own CPU, s | 2.00 | - |'],
  ));

test('a goal that is missed stands out, and what has none is no goal', () => {
  const lines = goalsTable([
    { name: 'a', value: 2, unit: 'ratio', goal: '<= 1', met: false },
    { name: 'b', value: 1, unit: 'ratio' },
  ]).split('\n');
  deepEqual(lines.slice(2), ['| a | 2.00 | ≤ 1 | **missed** |']);
});

test('a text takes the place of the one between its marks', () => {
  const page = 'before\n<!-- x -->\nold\n<!-- /x -->\nafter\n';
  equal(filled(page, { x: 'new' }), 'before\n<!-- x -->\nnew\n<!-- /x -->\nafter\n');
  throws(() => filled(page, { y: 'new' }), /no place for y/);
});
