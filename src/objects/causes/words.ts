// Texts of kubelets, schedulers, provisioners and programs, made fit for a status: one line, bounded, and without what
// differs from one attempt to the next although nothing has changed, such as ports, ids and times.

import { stripVTControlCharacters } from 'node:util';
import { untold } from './cause.ts';

const longest = 1024;
const mostLines = 5;

const passing: readonly [RegExp, string][] = [
  [/(?<!sha256:)\b[0-9a-f]{64}\b/g, '…'],
  [/(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):\d+->/g, '$1->'],
  [/\bcurrent time \S+ is\b/g, 'the current time is'],
  [/(\brequest[ -]?id:?\s*)[\w-]+/gi, '$1…'],
];

/** A text of the cluster on one line, the same for every attempt. What is too long loses its middle: errors end with their root. */
export function steady(text: string | undefined): string {
  const line = plain(text ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const same = passing.reduce((words, [what, instead]) => words.replaceAll(what, instead), line);
  return same.length <= longest ? same : `${same.slice(0, 400)} … ${same.slice(-600)}`.toWellFormed();
}

/** A message: what happened to whom, the cluster's own words, and what to do where that is evident. */
export function sentence(happened: string, words: string | undefined, advice?: string): string {
  const said = steady(words).replace(/[.\s]+$/, '') || untold;
  return `${happened}: ${said}${advice === undefined ? '' : ` (${advice})`}`;
}

/** The advice of the first row whose pattern is in the words. */
export const adviceFor = (words: string, rows: readonly (readonly [RegExp, string])[]): string | undefined =>
  rows.find(([pattern]) => pattern.test(words))?.[1];

/** The last lines of what a program said, without secrets, and without the times that loggers put in front. */
export function lastLinesOf(said: string | undefined): string | undefined {
  const lines = plain(said ?? '')
    .split(/\r?\n|\r/)
    .map((line) => redacted(untimed(line)).trimEnd())
    .filter((line) => line !== '');
  const last = lines.slice(-mostLines).join('\n').slice(-longest).toWellFormed();
  return last === '' ? undefined : last;
}

/** The very last of these lines. */
export const lastOf = (lines: string | undefined): string | undefined => lines?.slice(lines.lastIndexOf('\n') + 1);

/** Text without colours and control characters, and without what a cut in the middle of a character leaves. */
const plain = (text: string): string => stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\n\r\t]|\uFFFD/gu, '');

const time = String.raw`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[ ]?[+-]\d\d:?\d\d)?`;
const timeInFront = new RegExp(String.raw`^\s*\[?${time}\]?:?\s*`);
const klogInFront = /^([EFIW])\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ /;
const timeInJson = new RegExp(String.raw`"(@?timestamp|time|ts)":\s*(?:"[^"]*"|[\d.e+]+),?\s*`, 'g');

const untimed = (line: string): string =>
  line.replace(timeInFront, '').replace(klogInFront, '$1 ').replaceAll(timeInJson, '');

const secret = String.raw`(?:\w*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|signature|credential)s?)`;
const secrets: readonly [RegExp, string][] = [
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, '$1…@'],
  [/([a-z][a-z0-9+.-]*:\/\/[^\s?#"']*)\?[^\s#"']+/gi, '$1?…'],
  [/\b(bearer|basic) +[\w.~+/=-]{8,}/gi, '$1 …'],
  [new RegExp(String.raw`(\b${secret}["']?\s*=\s*["']?)[^\s,;&"']+`, 'gi'), '$1…'],
  [new RegExp(String.raw`("${secret}"\s*:\s*")[^"]*`, 'gi'), '$1…'],
  [/(\bpass(?:word|wd)\s*:\s*)\S+/gi, '$1…'],
];

/** What a program says may be read by more people than it knows: who is named in an address, its query, and what is called a secret goes. */
const redacted = (line: string): string =>
  secrets.reduce((words, [what, instead]) => words.replaceAll(what, instead), line);
