import { equal, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { patternProblem } from './pattern.ts';

const same = [
  /^a+$/,
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  /\d\w\s\b\.\/\x41/,
  /[\]^]/,
  /\(?=/,
  /^a{0,1000}$/,
  /a|b?/,
  /^(?:a)$/,
];
const other: [RegExp, RegExp][] = [
  [/^(?=a)/, /look-around/],
  [/(?<!a)b/, /look-around/],
  [/(a)\1/, /\\1/],
  [/(?<x>a)\k<x>/, /\\k/],
  [/\u0041/, /\\u/],
  [/\cA/, /\\c/],
  [/[^]/, /empty character class/],
  [/[[:alpha:]]/, /only RE2 knows/],
  [/^a{0,1001}$/, /repeats/],
  [/^(a{0,40}){0,40}$/, /repeats/],
  [/^a/i, /flags "i"/],
];

describe('a pattern', () => {
  for (const pattern of same)
    test(`${pattern} means the same to the API server`, () => equal(patternProblem(pattern), undefined));
  for (const [pattern, says] of other) test(`${pattern} does not`, () => match(patternProblem(pattern) ?? '', says));
});
