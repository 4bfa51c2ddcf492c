// The picture shows what was measured, and only that.

import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { picture } from './picture.ts';

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
