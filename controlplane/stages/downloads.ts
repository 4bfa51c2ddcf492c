// Downloads on simulated nodes: a pod of the component `download` does what our program does, in the words that both sides
// of the contract share (src/api/programs.ts): progress lines while it runs, and a last word at its end.

import { sayLastWord, sayProgress } from '../../src/api/index.ts';

/** Which pods are downloads, how long one takes, and how much it fetches. */
export const downloads = {
  label: 'app.kubernetes.io/component',
  component: 'download',
  seconds: 3,
  bytes: 314_572_800,
} as const;

/** Stands for the digest in the last word; the template of the status puts one in its place. */
const digest = 'DIGEST';

/** What a download says at its end. */
export const lastWord: string = sayLastWord({ result: 'done', digest, bytes: downloads.bytes });

const linesEvery = 250;

/** What a download has printed after so many milliseconds: the same lines as before, and some more. */
export function progressAfter(ms: number, whole: number = downloads.seconds * 1_000): string {
  const spoken = Math.min(Math.max(0, ms), whole);
  const moments = Array.from({ length: Math.floor(spoken / linesEvery) + 1 }, (_, index) => index * linesEvery);
  if (spoken === whole) moments.push(whole);
  const { bytes: total } = downloads;
  return moments.map((at) => `${sayProgress({ bytes: Math.floor((total * at) / whole), total })}\n`).join('');
}
