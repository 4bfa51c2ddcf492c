// Waiting in tests, always bounded: the last thing that went wrong is what a failed wait says.

import { setTimeout as pause } from 'node:timers/promises';

/** Asks until the answer is truthy; throws what was wrong last when the time is over. */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  { within = 30_000, every = 50, what = 'it' }: { within?: number; every?: number; what?: string } = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + within;
  let last: unknown;
  while (performance.now() < end) {
    try {
      const answer = await ask();
      if (answer) return answer;
      last = new Error(`the answer was ${String(answer)}`);
    } catch (error) {
      last = error;
    }
    await pause(every);
  }
  throw new Error(`${what} did not happen within ${within} ms`, { cause: last });
}
