// Finds a fight that nobody wins: the same child is written again and again although nothing new was asked for. A server
// default or another controller undoes what we write, and without an end that costs the cluster more than any drift.
// Past the limit the key is left alone for a while, and the reason is there for a person to read.

import type { Clock } from '../base/index.ts';

export interface CircuitOptions {
  clock: Clock;
  /** So many writes to one child within the window are still no fight. */
  limit?: number;
  window?: number;
  pause?: number;
}

/** Why a key is left alone, and until when on the monotonic clock. */
export interface Open {
  until: number;
  child: string;
  why: string;
}

/** `trial`: the pause is over; one write may mend what is left, a second one to the same child within the window means that the fight goes on. */
type State = { is: 'counting' } | { is: 'open'; open: Open } | { is: 'trial'; child: string };

interface Watched {
  generation: number;
  state: State;
  /** Times of the writes to each child, oldest first. */
  writes: Map<string, number[]>;
  last: number;
}

export class Circuit {
  readonly #options: Required<CircuitOptions>;
  /** In the order of the last write, so that what is long over is found at the front. */
  readonly #keys = new Map<string, Watched>();

  constructor(options: CircuitOptions) {
    this.#options = { limit: 20, window: 60_000, pause: 300_000, ...options };
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#keys.size;
  }

  /** Counts one write to a child; `why` says what differed. */
  wrote(key: string, child: string, generation: number, why: string): void {
    const now = this.#now();
    const watched = this.#watchedOf(key, generation);
    const { window, limit, pause } = this.#options;
    const times = (watched.writes.get(child) ?? []).filter((time) => time > now - window);
    times.push(now);
    watched.writes.set(child, times);
    this.#remember(key, watched, now);
    const onTrial = watched.state.is === 'trial' && watched.state.child === child;
    if (watched.state.is === 'open' || times.length <= (onTrial ? 1 : limit)) return;
    const said = `${child} was written ${times.length} times in ${window / 1000} s with nothing new asked for; last because ${why}`;
    watched.state = { is: 'open', open: { until: now + pause, child, why: said } };
    watched.writes.clear();
  }

  /** Why the key should be left alone for now, if it should. A new generation is a new question. */
  openFor(key: string, generation: number): Open | undefined {
    const watched = this.#keys.get(key);
    if (watched?.state.is !== 'open' || watched.generation !== generation) return undefined;
    const { open } = watched.state;
    if (this.#now() < open.until) return open;
    watched.state = { is: 'trial', child: open.child };
    this.#remember(key, watched, this.#now());
    return undefined;
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#keys.delete(key);
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  #watchedOf(key: string, generation: number): Watched {
    const known = this.#keys.get(key);
    if (known?.generation === generation && !this.#isOver(known)) return known;
    return { generation, state: { is: 'counting' }, writes: new Map(), last: 0 };
  }

  /** Puts the key at the end, and drops from the front what is over. */
  #remember(key: string, watched: Watched, now: number): void {
    watched.last = now;
    this.#keys.delete(key);
    this.#keys.set(key, watched);
    for (const [oldest, { last }] of this.#keys) {
      if (last > now - this.#longestMemory()) return;
      this.#keys.delete(oldest);
    }
  }

  /** Nothing was written for a whole window: the fight, if it was one, is over. */
  #isOver({ state, last }: Watched): boolean {
    return state.is !== 'open' && last <= this.#now() - this.#options.window;
  }

  #longestMemory(): number {
    return this.#options.pause + this.#options.window;
  }
}
