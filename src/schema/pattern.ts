// Which regular expressions mean the same here and in the API server. The server runs RE2: it has no look-around and no
// back-references, and it takes the bare pattern, so flags would be lost without a word.

/** Letters and digits that mean the same after a backslash on both sides; any punctuation means itself. */
const sharedEscape = /^[dDwWsSbBtnrfvx]$|^[^A-Za-z0-9]$/;

const foreign: readonly [RegExp, string][] = [
  [/\(\?<?[=!]/, 'look-around'],
  [/\[\^?\]/, 'an empty character class'],
  [/\[\[:/, 'a class that only RE2 knows'],
];

/** RE2 refuses to repeat anything more often. */
const mostRepeats = 1000;

/** Why the API server would not understand a regular expression as we do, or undefined. */
export function patternProblem({ source, flags }: RegExp): string | undefined {
  if (flags !== '') return `the flags "${flags}" of its pattern are lost in a CRD`;
  const escapes = [...source.matchAll(/\\(.)/gs)].map(([, letter]) => letter ?? '');
  const unknown = escapes.find((letter) => !sharedEscape.test(letter));
  if (unknown) return `its pattern uses \\${unknown}, which means nothing or something else to the API server`;
  const plain = source.replaceAll(/\\./gs, 'x');
  const found = foreign.find(([sign]) => sign.test(plain));
  if (found) return `its pattern uses ${found[1]}, which the API server refuses`;
  return repeatsOf(plain) > mostRepeats ? `its pattern repeats more than ${mostRepeats} times` : undefined;
}

/** Nested repeats multiply; whether they are nested is guessed, on the safe side, by a repeated group. */
function repeatsOf(source: string): number {
  const counts = [...source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) => Number(most || least));
  const nested = /\)\{/.test(source);
  return counts.reduce((all, count) => (nested ? all * Math.max(1, count) : Math.max(all, count)), 1);
}
