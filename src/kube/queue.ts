// Which object is looked at next. The queue holds keys, not events: a key waits once however often it was added,
// a pass reads the world afresh, and a key that is done leaves nothing behind. See docs/design/0006-queue.md.

import { type Backoff, type Clock } from '../base/index.ts';
import { Heap, type Ranked } from './heap.ts';
import { type Memory, type Priority, blank, earliest, forgive, headStart, holdBack, stronger } from './pace.ts';

export type { Priority } from './pace.ts';

export interface QueueOptions {
  clock: Clock;
  random: () => number;
  /** How many passes run at once. */
  workers: number;
  /** One pass; `again` asks for another look after so many milliseconds. A rejection is retried with backoff. */
  run: (key: string) => Promise<void | { again?: number }>;
  /** Told of every failed pass; `delay` is how long the key waits now, Infinity if it is not tried again. */
  failed?: (key: string, error: unknown, failures: number, delay: number) => void;
  /** A key that is wanted again so soon after the end of its pass waits out the rest. */
  quiet?: number;
  backoff?: Backoff;
}

export interface QueueStats {
  /** Keys that wait for a worker. */
  ready: number;
  /** Keys that wait for their time. */
  delayed: number;
  running: number;
  /** These three are counted from the start. */
  added: number;
  passes: number;
  failures: number;
}

/** `leaving` runs its last pass: its object is gone. `resting` has nothing to do, and is remembered for its quiet time. */
interface Entry extends Memory, Ranked {
  readonly key: string;
  phase: 'resting' | 'delayed' | 'ready' | 'running' | 'leaving';
  readyAt: number;
}

type Outcome = { again?: number } | { error: unknown };

export class Queue {
  readonly #options: QueueOptions & { quiet: number; backoff: Backoff };
  readonly #entries = new Map<string, Entry>();
  /** Delayed and resting keys; the rank is the time at which that ends. */
  readonly #later = new Heap<Entry>();
  /** Keys that could run now; the rank is the time since when, plus the head start that others have. */
  readonly #ready = new Heap<Entry>();
  readonly #counts = { added: 0, passes: 0, failures: 0 };
  #running = 0;
  #resting = 0;
  #gate: 'open' | 'paused' | 'closed' = 'open';
  #timer: { at: number; cancel: () => void } | undefined;
  #starting = false;
  readonly #whenIdle: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.#options = { quiet: 500, backoff: { first: 200, most: 300_000 }, ...options };
  }

  /** Keys that wait, for a worker or for their time. */
  get size(): number {
    return this.#ready.size + this.#later.size - this.#resting;
  }

  /** Passes that run now. */
  get running(): number {
    return this.#running;
  }

  /** Wants a pass for the key. A key that runs already runs once more afterwards. */
  add(key: string, priority: Priority = 'change'): void {
    if (this.#gate === 'closed') return;
    this.#counts.added++;
    this.#want(this.#entryOf(key), priority);
  }

  /** Wants a look at the key after `ms`, if no pass comes before. */
  after(key: string, ms: number): void {
    if (Number.isNaN(ms)) throw new TypeError(`a look at ${key} needs a number of milliseconds`);
    if (this.#gate === 'closed' || ms === Infinity) return;
    this.#lookAt(this.#entryOf(key), this.#now() + ms);
  }

  /** Forgets the failures of the key: what is added next runs at once. */
  reset(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) forgive(entry);
  }

  /** The object is gone: a pass that runs is the last one, and nothing of the key remains. */
  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    if (isRunning(entry)) Object.assign(entry, blank(), { phase: 'leaving' });
    else this.#drop(entry);
  }

  /** Starts no pass until `resume`; keys are kept, and passes that run go on. */
  pause(): void {
    if (this.#gate === 'open') this.#gate = 'paused';
  }

  resume(): void {
    if (this.#gate === 'paused') this.#gate = 'open';
    this.#wake();
  }

  /** Takes nothing more, gives up what waits, and resolves when the last pass has ended. */
  drain(): Promise<void> {
    this.#gate = 'closed';
    this.#timer?.cancel();
    for (const entry of this.#entries.values()) if (!isRunning(entry)) this.#drop(entry);
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** For how long the key that waits longest has been ready to run. */
  oldestWaiting(): number {
    const now = this.#now();
    let longest = 0;
    for (const { readyAt } of this.#ready.values()) longest = Math.max(longest, now - readyAt);
    return longest;
  }

  stats(): QueueStats {
    const ready = this.#ready.size;
    return { ready, delayed: this.size - ready, running: this.#running, ...this.#counts };
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) return known;
    const entry: Entry = { key, phase: 'resting', readyAt: 0, rank: 0, order: 0, place: -1, ...blank() };
    this.#entries.set(key, entry);
    return entry;
  }

  #want(entry: Entry, priority: Priority): void {
    if (isRunning(entry)) {
      entry.phase = 'running';
      entry.wanted = stronger(entry.wanted, priority);
      return;
    }
    if (priority === 'edit') forgive(entry);
    this.#schedule(entry, earliest[priority](entry, this.#now()), priority);
  }

  #lookAt(entry: Entry, at: number): void {
    if (isRunning(entry)) {
      entry.phase = 'running';
      entry.look = Math.min(entry.look, at);
      return;
    }
    this.#schedule(entry, earliest.resync(entry, Math.max(at, this.#now())), 'change');
  }

  /** Puts the key where its next pass belongs; what was wanted earlier or more strongly stays. */
  #schedule(entry: Entry, due: number, priority: Priority): void {
    entry.wanted = stronger(entry.wanted, priority);
    if (entry.phase === 'ready') return this.#rankReady(entry, Math.min(entry.rank, due + headStart[priority]));
    if (entry.phase === 'delayed' && entry.rank <= due) return;
    this.#takeOut(entry);
    if (due <= this.#now()) return this.#makeReady(entry, due);
    entry.phase = 'delayed';
    this.#later.put(entry, due);
    this.#arm();
  }

  #rankReady(entry: Entry, rank: number): void {
    if (rank === entry.rank) return;
    this.#ready.remove(entry);
    this.#ready.put(entry, rank);
  }

  #makeReady(entry: Entry, since: number): void {
    entry.phase = 'ready';
    entry.readyAt = since;
    this.#ready.put(entry, since + headStart[entry.wanted ?? 'change']);
    this.#wake();
  }

  #takeOut(entry: Entry): void {
    if (entry.place < 0) return;
    if (entry.phase === 'resting') this.#resting--;
    (entry.phase === 'ready' ? this.#ready : this.#later).remove(entry);
  }

  #drop(entry: Entry): void {
    this.#takeOut(entry);
    this.#entries.delete(entry.key);
  }

  /** One timer for all keys, set for the first of them. */
  #arm(): void {
    const first = this.#later.first();
    if (!first || (this.#timer && this.#timer.at <= first.rank)) return;
    this.#timer?.cancel();
    const cancel = this.#options.clock.after(first.rank - this.#now(), () => {
      this.#timer = undefined;
      this.#promote();
      this.#arm();
    });
    this.#timer = { at: first.rank, cancel };
  }

  /** Delayed keys whose time has come become ready; resting ones are forgotten. */
  #promote(): void {
    const now = this.#now();
    for (let entry = this.#later.first(); entry && entry.rank <= now; entry = this.#later.first()) {
      if (entry.phase === 'resting') {
        this.#drop(entry);
        continue;
      }
      this.#later.remove(entry);
      this.#makeReady(entry, entry.rank);
    }
  }

  /** Passes start in a turn of their own: what came in one batch is ranked first, and the event loop is never held up. */
  #wake(): void {
    if (this.#starting || this.#ready.size === 0) return;
    this.#starting = true;
    setImmediate(() => {
      this.#starting = false;
      this.#start();
    });
  }

  #start(): void {
    this.#promote();
    while (this.#gate === 'open' && this.#running < this.#options.workers) {
      const entry = this.#ready.first();
      if (!entry) return;
      this.#ready.remove(entry);
      void this.#pass(entry);
    }
  }

  async #pass(entry: Entry): Promise<void> {
    Object.assign(entry, { phase: 'running', served: entry.wanted, wanted: undefined, look: Infinity });
    this.#running++;
    this.#counts.passes++;
    const outcome = await this.#attempt(entry.key);
    this.#running--;
    this.#remember(entry, outcome);
    const { failures } = entry;
    this.#settle(entry, outcome);
    this.#wake();
    if (this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    if ('error' in outcome) this.#options.failed?.(entry.key, outcome.error, failures, this.#delayOf(entry));
  }

  async #attempt(key: string): Promise<Outcome> {
    try {
      const outcome = (await this.#options.run(key)) ?? {};
      if (Number.isNaN(outcome.again)) throw new TypeError('`again` is not a number of milliseconds');
      return outcome;
    } catch (error) {
      return { error };
    }
  }

  #remember(entry: Entry, outcome: Outcome): void {
    const now = this.#now();
    entry.quietUntil = now + this.#options.quiet;
    if (entry.served === 'edit') entry.editQuietUntil = entry.quietUntil;
    if (!('error' in outcome)) return forgive(entry);
    this.#counts.failures++;
    holdBack(entry, outcome.error, { ...this.#options, now });
  }

  /** After a pass: what was wanted meanwhile, the next look or the next attempt; or rest. */
  #settle(entry: Entry, outcome: Outcome): void {
    const { phase, wanted, look } = entry;
    if (phase === 'leaving' || this.#gate === 'closed') return this.#drop(entry);
    Object.assign(entry, { phase: 'resting', wanted: undefined });
    const next = 'error' in outcome ? entry.heldUntil : this.#now() + (outcome.again ?? Infinity);
    if (Math.min(look, next) < Infinity) this.#lookAt(entry, Math.min(look, next));
    if (wanted) this.#want(entry, wanted);
    if (entry.wanted === undefined) this.#rest(entry);
  }

  #rest(entry: Entry): void {
    this.#resting++;
    this.#later.put(entry, entry.quietUntil);
    this.#arm();
  }

  #delayOf({ phase, rank, wanted }: Entry): number {
    if (phase === 'delayed') return rank - this.#now();
    return wanted ? 0 : Infinity;
  }
}

const isRunning = ({ phase }: Entry): boolean => phase === 'running' || phase === 'leaving';
