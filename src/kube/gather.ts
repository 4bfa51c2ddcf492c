// Facts from outside the cache. They are fetched beside the queue's workers, never inside a pass: a pass gets the last
// value, or `pending`, at once, and its object is woken only when a value changed.

import { asError, type Backoff, type Clock, delayAfter, hashOf, wordsOf } from '../base/index.ts';
import type { Fact, Facts, Known, Observed, Parent, Tools } from './define.ts';

type AnyFact = Fact<Parent, unknown, unknown, object>;

/** Milliseconds after which a fetch has failed. */
const longestFetch = 30_000;

/** Milliseconds between two fetches of what is dear, at most. */
const longestRest = 1_000;

/** Failures in a row after which a fact counts as one that will not come by itself; it is still asked for. */
const lastingAfter = 7;

interface Held {
  inputs: string;
  known: Known<unknown>;
  failures: number;
  /** The moment since which the answer has been the same. */
  since: number;
  abort: AbortController;
  cancel: () => void;
}

/** A fetch that is to be. */
interface Work {
  key: string;
  name: string;
  inputs: unknown;
  held: Held;
}

/** Those who wait for their turn with one fact, and the moment before which nobody has it: Infinity while one must end first. */
interface Line {
  waiting: Work[];
  next: number;
  cancel: (() => void) | undefined;
}

export interface GatherOptions {
  facts: Readonly<Record<string, AnyFact>>;
  tools: Omit<Tools<object>, 'signal'>;
  clock: Clock;
  random: () => number;
  /** A fact of this key has another value than before. */
  wake: (key: string) => void;
  /** How many fetches may run at once. */
  parallel: number;
  backoff: Backoff;
}

/** The facts of all objects of one controller. */
export class Gatherer {
  private readonly options: GatherOptions;
  private readonly held = new Map<string, Map<string, Held>>();
  private readonly waiting: (() => Promise<void>)[] = [];
  private readonly lines = new Map<string, Line>();
  private running = 0;

  constructor(options: GatherOptions) {
    this.options = options;
  }

  /** What is known for this object now. What is missing or old is being fetched when this returns. */
  facts(key: string, object: Parent, seen: Observed): Facts<Record<string, unknown>> {
    const entries = Object.entries(this.options.facts).map(([name, fact]) => [
      name,
      this.one(key, name, fact.inputs(object, seen)),
    ]);
    return Object.fromEntries(entries) as Facts<Record<string, unknown>>;
  }

  /** The object is gone: nothing is fetched for it any more. */
  forget(key: string): void {
    for (const held of this.held.get(key)?.values() ?? []) stop(held);
    this.held.delete(key);
  }

  close(): void {
    for (const key of this.held.keys()) this.forget(key);
    for (const { cancel } of this.lines.values()) cancel?.();
  }

  private one(key: string, name: string, inputs: unknown): Known<unknown> {
    const former = this.held.get(key)?.get(name);
    const hash = inputs === undefined ? '' : hashOf(inputs);
    if (former?.inputs === hash) return former.known;
    if (former) stop(former);
    if (inputs === undefined) {
      this.held.get(key)?.delete(name);
      return { state: 'unneeded' };
    }
    const held: Held = {
      inputs: hash,
      known: { state: 'pending' },
      failures: 0,
      since: this.options.clock.monotonic(),
      abort: new AbortController(),
      cancel: () => {},
    };
    if (!this.held.has(key)) this.held.set(key, new Map());
    this.held.get(key)?.set(name, held);
    this.schedule(this.options.facts[name]?.after ?? 0, { key, name, inputs, held });
    return held.known;
  }

  private async fetch(work: Work): Promise<void> {
    const { facts, tools, clock, random, wake, backoff } = this.options;
    const { key, name, inputs, held } = work;
    const fact = facts[name];
    const began = clock.monotonic();
    if (!fact || held.abort.signal.aborted) return this.rest(name, 0);
    const before = hashOf(held.known);
    let next: number;
    try {
      const value = await this.inTime(fact.fetch(inputs, { ...tools, signal: held.abort.signal }), held.abort.signal);
      hashOf({ value }); // a value that is no JSON could never be told from the next one: the fetch has failed
      held.known = { state: 'known', value };
      held.failures = 0;
      if (hashOf(held.known) !== before) held.since = clock.monotonic();
      next = fact.isFinal?.(value) ? Infinity : freshness(fact, clock.monotonic() - held.since);
    } catch (error) {
      held.failures++;
      // A value that was known stays the last word while its inputs stand; only the first fetch can fail visibly.
      if (held.known.state !== 'known') held.known = failure(error, held.failures);
      next = delayAfter(held.failures, backoff, random);
    }
    this.rest(name, clock.monotonic() - began);
    if (held.abort.signal.aborted) return;
    if (next !== Infinity) this.schedule(next, work);
    if (hashOf(held.known) !== before) wake(key);
  }

  /** Fetches after `wait`, or later when others are before it. A place is taken only when it is needed. */
  private schedule(wait: number, work: Work): void {
    if (wait > 0) work.held.cancel = this.options.clock.after(wait, () => this.schedule(0, work));
    else {
      this.lineUp(work);
      this.advance(work.name);
    }
  }

  /** Those about whom nothing is known go before those who ask again. */
  private lineUp(work: Work): void {
    const { waiting } = this.lineOf(work.name);
    const known =
      work.held.known.state === 'known' ? -1 : waiting.findIndex(({ held }) => held.known.state === 'known');
    waiting.splice(known < 0 ? waiting.length : known, 0, work);
  }

  private lineOf(name: string): Line {
    const line = this.lines.get(name) ?? { waiting: [], next: 0, cancel: undefined };
    this.lines.set(name, line);
    return line;
  }

  /** Lets everybody fetch whose turn it is. */
  private advance(name: string): void {
    const { facts, clock } = this.options;
    const line = this.lineOf(name);
    const { perSecond = Infinity, share } = facts[name] ?? {};
    for (;;) {
      while (line.waiting[0]?.held.abort.signal.aborted) line.waiting.shift();
      const [work] = line.waiting;
      if (!work || line.cancel || line.next === Infinity) return;
      const now = clock.monotonic();
      if (line.next > now) return void (line.cancel = clock.after(line.next - now, () => this.turn(name)));
      line.next = share === undefined ? now + 1_000 / perSecond : Infinity; // dear ones one by one: only its end shows
      line.waiting.shift();
      this.enqueue(() => this.fetch(work));
    }
  }

  private turn(name: string): void {
    this.lineOf(name).cancel = undefined;
    this.advance(name);
  }

  /** After a fetch that took so long, nobody asks until its part of the time is over, or a second: a slow answer is still news. */
  private rest(name: string, took: number): void {
    const { share, perSecond = Infinity } = this.options.facts[name] ?? {};
    if (share === undefined) return;
    const pause = Math.min(longestRest, took * (1 / share - 1));
    this.lineOf(name).next = this.options.clock.monotonic() + Math.max(1_000 / perSecond - took, pause);
    this.advance(name);
  }

  /** A fetch that hangs, or that nobody wants any more, must not keep its place among the few that run at once. */
  private inTime<T>(fetching: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        cancel();
        signal.removeEventListener('abort', gone);
        end();
      };
      const gone = () => settle(() => reject(new Error('it is not needed any more')));
      const late = () => settle(() => reject(new Error(`there was no answer within ${longestFetch / 1_000} s`)));
      const cancel = this.options.clock.after(longestFetch, late);
      signal.addEventListener('abort', gone, { once: true });
      void fetching.then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(asError(error))),
      );
    });
  }

  private enqueue(task: () => Promise<void>): void {
    this.waiting.push(task);
    this.next();
  }

  private next(): void {
    if (this.running >= this.options.parallel) return;
    const task = this.waiting.shift();
    if (!task) return;
    this.running++;
    void task().finally(() => {
      this.running--;
      this.next();
    });
  }
}

const failure = (error: unknown, failures: number): Known<never> => ({
  state: 'failed',
  why: wordsOf(error),
  ...(failures >= lastingAfter && { lasting: true }),
});

/** How long an answer is good for that has been the same for so long: what has rested is likely to go on resting. */
const freshness = ({ freshFor, slowsTo = freshFor }: AnyFact, rested: number): number =>
  Math.max(freshFor, Math.min(slowsTo, rested / 20));

function stop(held: Held): void {
  held.abort.abort();
  held.cancel();
}
