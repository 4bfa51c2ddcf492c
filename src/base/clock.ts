// Time comes in as an argument everywhere, so that tests can own it. Two clocks, on purpose: wall time is
// for what people read and may jump; monotonic time is for deadlines and never goes back.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that only goes forward, also while the process is stopped. */
  monotonic(): number;
  /** Calls back once after `ms`; the returned function cancels. */
  after(ms: number, run: () => void): () => void;
}

/** setTimeout treats longer delays as zero. */
const longestTimer = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), longestTimer));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when the signal aborts: the caller looks at the signal. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}
