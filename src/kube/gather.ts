// Facts from outside the cache. They are fetched beside the queue's workers, never inside a pass: a pass gets the last
// value, or `pending`, at once, and its object is woken only when a value changed.

import { asError, type Backoff, type Clock, delayAfter, hashOf, wordsOf } from '../base/index.ts';
import type { Fact, Facts, Known, Observed, Parent, Tools } from './define.ts';

type AnyFact = Fact<Parent, unknown, unknown, object>;

/** Milliseconds after which a fetch has failed. */
const longestFetch = 30_000;

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
  private readonly turns = new Map<string, number>();
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
    this.schedule(0, { key, name, inputs, held });
    return held.known;
  }

  private async fetch(key: string, name: string, inputs: unknown, held: Held): Promise<void> {
    const { facts, tools, clock, random, wake, backoff } = this.options;
    const fact = facts[name];
    if (!fact || held.abort.signal.aborted) return;
    const before = hashOf(held.known);
    let next: number;
    try {
      const value = await this.inTime(fact.fetch(inputs, { ...tools, signal: held.abort.signal }), held.abort.signal);
      hashOf({ value }); // a value that is no JSON could never be told from the next one: the fetch has failed
      held.known = { state: 'known', value };
      held.failures = 0;
      if (hashOf(held.known) !== before) held.since = clock.monotonic();
      next = freshness(fact, clock.monotonic() - held.since);
    } catch (error) {
      held.failures++;
      // A value that was known stays the last word while its inputs stand; only the first fetch can fail visibly.
      if (held.known.state !== 'known') held.known = failure(error, held.failures);
      next = delayAfter(held.failures, backoff, random);
    }
    if (held.abort.signal.aborted) return;
    if (next !== Infinity) this.schedule(next, { key, name, inputs, held });
    if (hashOf(held.known) !== before) wake(key);
  }

  /** Fetches after `wait`, or later when the budget of the fact asks for it. */
  private schedule(wait: number, work: { key: string; name: string; inputs: unknown; held: Held }): void {
    const run = () => this.enqueue(() => this.fetch(work.key, work.name, work.inputs, work.held));
    const delay = wait > 0 ? wait : this.turn(work.name);
    if (delay === 0) run();
    else work.held.cancel = this.options.clock.after(delay, wait > 0 ? () => this.schedule(0, work) : run);
  }

  /**
   * Turns of one fact are spread over time, however many objects want it. One is taken only when it is needed: a place in
   * the far future would keep everybody else waiting until then.
   */
  private turn(name: string): number {
    const { perSecond } = this.options.facts[name] ?? {};
    if (perSecond === undefined) return 0;
    const now = this.options.clock.monotonic();
    const at = Math.max(now, this.turns.get(name) ?? 0);
    this.turns.set(name, at + 1_000 / perSecond);
    return at - now;
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
