// Which bytes of a file are there: a sorted list of stretches that neither touch nor overlap.

/** From the first byte up to the one behind the last. */
export type Stretch = readonly [from: number, to: number];

/** A set of bytes. */
export class Ranges {
  #stretches: Stretch[];

  constructor(stretches: readonly Stretch[] = []) {
    this.#stretches = [];
    for (const stretch of stretches) this.add(...stretch);
  }

  /** All stretches, in order. */
  get all(): readonly Stretch[] {
    return this.#stretches;
  }

  /** How many bytes are there. */
  get size(): number {
    return this.#stretches.reduce((sum, [from, to]) => sum + to - from, 0);
  }

  /** How many bytes are there from the beginning without a gap. */
  get frontier(): number {
    const [first] = this.#stretches;
    return first?.[0] === 0 ? first[1] : 0;
  }

  add(from: number, to: number): void {
    if (to <= from) return;
    const touching = this.#stretches.filter(([a, b]) => a <= to && b >= from);
    const joined: Stretch = [Math.min(from, ...touching.map(([a]) => a)), Math.max(to, ...touching.map(([, b]) => b))];
    const others = this.#stretches.filter(([a, b]) => a > to || b < from);
    this.#stretches = [...others, joined].toSorted(([a], [b]) => a - b);
  }

  /** What is missing between two bytes, in order. */
  missing(from: number, to: number): Stretch[] {
    const gaps: Stretch[] = [];
    let at = from;
    for (const [a, b] of this.#stretches) {
      if (b <= at || a >= to) continue;
      if (a > at) gaps.push([at, a]);
      at = Math.max(at, b);
    }
    if (at < to) gaps.push([at, to]);
    return gaps;
  }
}

/** Cuts stretches into pieces of at most `size`. */
export const pieces = (stretches: readonly Stretch[], size: number): Stretch[] =>
  stretches.flatMap(([from, to]) =>
    Array.from({ length: Math.ceil((to - from) / size) }, (_, index): Stretch => {
      const start = from + index * size;
      return [start, Math.min(to, start + size)];
    }),
  );
