// Which regular expressions mean the same here and in the API server. The server runs RE2: it has no look-around and no
// back-references, and it takes the bare pattern, so flags would be lost without a word.

const foreign: readonly [RegExp, string][] = [
  [/\(\?<?[=!]/, 'look-around'],
  [/\\[1-9]|\\k</, 'a back-reference'],
  [/\(\?<(?![=!])/, 'a named group'],
  [/\\u|\\c[A-Za-z]|\\p\{[^}]*=/, 'an escape that RE2 does not know'],
  [/\[\^?\]/, 'an empty character class'],
];

/** RE2 refuses to repeat anything more often. */
const mostRepeats = 1000;

/** Why the API server would not understand a regular expression as we do, or undefined. */
export function patternProblem({ source, flags }: RegExp): string | undefined {
  if (flags !== '') return `the flags "${flags}" of its pattern are lost in a CRD`;
  const found = foreign.find(([sign]) => sign.test(source));
  if (found) return `its pattern uses ${found[1]}, which the API server refuses`;
  return repeatsOf(source) > mostRepeats ? `its pattern repeats more than ${mostRepeats} times` : undefined;
}

/** Nested repeats multiply, so the product of all of them is the safe guess. */
function repeatsOf(source: string): number {
  const counts = [...source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) => Number(most || least));
  const nested = /\)\{/.test(source);
  return counts.reduce((all, count) => (nested ? all * Math.max(1, count) : Math.max(all, count)), 1);
}
