// A clock that stands still until a test moves it. Timers fire in the order of their time, and between two of them
// everything that is ready to run gets its turn, so a test sees the same order on every machine.

import { setImmediate as turn } from 'node:timers/promises';
import { type Clock } from '../../src/base/index.ts';

interface Timer {
  at: number;
  run: () => void;
}

export class FakeClock implements Clock {
  #elapsed = 0;
  #wall: number;
  readonly #timers = new Set<Timer>();

  constructor(wall = Date.UTC(2026, 0, 2, 3, 4, 5)) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#elapsed + Math.max(0, ms), run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** How many timers are waiting. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Lets `ms` pass; what falls due on the way happens at its own time. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settle();
    for (let timer = this.#firstUntil(end); timer; timer = this.#firstUntil(end)) {
      this.#elapsed = Math.max(this.#elapsed, timer.at);
      this.#timers.delete(timer);
      timer.run();
      await settle();
    }
    this.#elapsed = end;
  }

  /** Time passes while the process is stopped: no timer fires before the next `advance`. */
  freeze(ms: number): void {
    this.#elapsed += ms;
  }

  /** The wall clock is set; the monotonic clock does not notice. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  #firstUntil(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  }
}

/** Gives everything that is ready to run its turn. */
export async function settle(turns = 3): Promise<void> {
  for (let i = 0; i < turns; i++) await turn();
}
