// Delays between attempts: exponential, capped, and never the same twice, so that many waiters do not come back together.

export interface Backoff {
  first: number;
  most: number;
}

/** The delay in milliseconds before attempt `failures + 1`: the upper half of the exponential step is random. */
export function delayAfter(failures: number, { first, most }: Backoff, random: () => number): number {
  const step = Math.min(most, first * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return step / 2 + (step / 2) * random();
}
