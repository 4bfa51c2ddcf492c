// What somebody may have meant who wrote a name that does not exist.

/** The known name that is nearest to a wrong one, if any is near enough to be meant. */
export function nearest(wrong: string, known: readonly string[]): string | undefined {
  const judged = known.map((name) => ({ name, distance: distance(wrong.toLowerCase(), name.toLowerCase()) }));
  const [best] = judged.toSorted((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(2, best.name.length / 3) ? best.name : undefined;
}

/** `did you mean x?`, or nothing. */
export function suggestion(wrong: string, known: readonly string[]): string {
  const name = nearest(wrong, known);
  return name === undefined ? '' : `; did you mean ${name}?`;
}

/** How many letters have to be put in, taken out or replaced (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of from.split('').entries()) {
    const next = [line + 1];
    for (const [column, other] of to.split('').entries()) {
      const replaced = (row[column] ?? 0) + Number(letter !== other);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
