import { deepEqual, equal, ok } from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { type Clock, sleep, systemClock } from './index.ts';

/** A clock that a test moves by hand; it counts the timers that are set. */
function handClock() {
  const timers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    after(_ms, run) {
      timers.add(run);
      return () => timers.delete(run);
    },
  };
  const strike = () => {
    for (const run of timers) run();
  };
  return { clock, timers, strike };
}

describe('sleep', () => {
  test('ends when its time has come, and leaves neither timer nor listener behind', async () => {
    const { clock, timers, strike } = handClock();
    const { signal } = new AbortController();
    const slept = sleep(clock, 1000, signal);
    equal(timers.size, 1);
    strike();
    await slept;
    equal(timers.size, 0);
    deepEqual(getEventListeners(signal, 'abort'), []);
  });

  test('ends at once when the signal aborts, and leaves neither timer nor listener behind', async () => {
    const { clock, timers } = handClock();
    const stop = new AbortController();
    const slept = sleep(clock, 1000, stop.signal);
    stop.abort();
    await slept;
    equal(timers.size, 0);
    deepEqual(getEventListeners(stop.signal, 'abort'), []);
  });

  test('does not begin when the signal was aborted before', { timeout: 5_000 }, async () => {
    const { clock, timers } = handClock();
    await sleep(clock, 1000, AbortSignal.abort());
    equal(timers.size, 0);
  });
});

describe('systemClock', () => {
  test('calls back after the delay, measured on its own monotonic clock', async () => {
    const start = systemClock.monotonic();
    await sleep(systemClock, 20);
    ok(systemClock.monotonic() - start >= 19);
  });

  test('does not call back once cancelled', async () => {
    let called = 0;
    const cancel = systemClock.after(1, () => (called += 1));
    cancel();
    await sleep(systemClock, 10);
    equal(called, 0);
  });

  test('does not take a very long delay for none', async () => {
    let called = 0;
    const cancel = systemClock.after(2 ** 40, () => (called += 1));
    await sleep(systemClock, 10);
    cancel();
    equal(called, 0);
  });
});
