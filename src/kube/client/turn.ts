// The event loop belongs to everybody: probes, timers, the lease. A long list may come faster than it can be taken in,
// and Node reads a socket for as long as there is something to read: megabytes in one turn. Whoever takes in much asks
// here whether the turn has lasted long enough, and lets the rest wait on the socket for the next one.

import type { Clock } from '../../base/index.ts';

/** Far below what a probe or a lease would notice, far above what a turn itself costs. */
const longestTurn = 10;

/** The current turn of the event loop, as far as it is spent on taking things in. */
export class Turn {
  readonly #clock: Clock;
  #began: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the turn has lasted long enough. The first to ask begins it. */
  isOver(): boolean {
    const now = this.#clock.monotonic();
    if (this.#began !== undefined) return now - this.#began > longestTurn;
    this.#began = now;
    setImmediate(() => (this.#began = undefined));
    return false;
  }
}
