// One watch as probes and metrics see it: whether it has a whole view, how long it has been silent, and what keeps it
// from working. A missing right or CRD holds only the controllers that need this watch.

import type { Clock } from '../base/index.ts';
import type { Store, StoreFeed } from './cache.ts';
import type { Check } from './health.ts';
import { type Problems, watchProblem } from './problems.ts';
import type { Limits, Source, WatchReport } from './watch.ts';

export interface WatchedOptions {
  store: Store;
  source: Source;
  clock: Clock;
  limits: Limits;
  problems: Problems;
  /** Whether somebody waits for a whole view of it; nobody does for an alias of a kind. */
  needed: boolean;
  /** Whether everybody who needs it can do without: to them a kind that is not served is one of which there is nothing. */
  mayLack: boolean;
  /** Whether there is an object for which it would matter. */
  awaited: () => boolean;
  /** Told when this watch cannot work at all, and when it can again. */
  hold: (words: string | undefined) => void;
  /** Told when a kind that may be absent comes or goes. */
  turned: () => void;
}

export class Watched implements WatchReport {
  readonly feed: StoreFeed;
  readonly source: Source;
  private readonly options: WatchedOptions;
  private state: 'starting' | 'well' | 'troubled' | 'absent' = 'starting';
  private lastByte: number;

  constructor(options: WatchedOptions) {
    this.options = options;
    this.source = options.source;
    this.feed = options.store.feed(options.source);
    this.lastByte = options.clock.monotonic();
  }

  get name(): string {
    const { kind, namespace } = this.source;
    return `watch ${kind.kind}${namespace === undefined ? '' : ` in ${namespace}`}`;
  }

  /** Whether it is of a kind that is not served, and need not be. */
  get absent(): boolean {
    return this.state === 'absent';
  }

  /** Milliseconds since the last byte. */
  get age(): number {
    return this.options.clock.monotonic() - this.lastByte;
  }

  alive(): void {
    this.lastByte = this.options.clock.monotonic();
  }

  well(): void {
    if (this.state === 'well') return;
    const came = this.state === 'absent';
    this.state = 'well';
    this.options.problems.set('API server', undefined);
    this.options.problems.set(this.name, undefined);
    this.options.hold(undefined);
    if (came) this.options.turned();
  }

  trouble(error: unknown): void {
    const problem = watchProblem(error, this.source.kind);
    if (problem?.absent && this.options.mayLack) return this.lacking();
    this.state = this.state === 'absent' ? 'absent' : 'troubled';
    if (!problem || (problem.absent && !this.options.needed)) return;
    this.options.problems.set(problem.shared ? 'API server' : this.name, problem.words);
    if (!problem.shared) this.options.hold(problem.words);
  }

  /** Not being served is a whole view, too: there is nothing, and nobody waits for more. */
  private lacking(): void {
    if (this.state === 'absent') return;
    this.state = 'absent';
    this.feed.absent();
    this.options.problems.set(this.name, undefined);
    this.options.hold(undefined);
    this.options.turned();
  }

  /** A kind that is not served is not looked for while there is nobody to use it: that would be requests for nothing. */
  idle(): boolean {
    return this.state === 'absent' && !this.options.awaited();
  }

  check(): Check {
    const { limits } = this.options;
    if (this.state === 'absent') return { name: this.name, ok: true, reason: 'not served here, and not needed' };
    if (this.state !== 'well' && !this.options.needed)
      return { name: this.name, ok: true, reason: 'not there, and not needed' };
    if (this.state === 'starting') return { name: this.name, ok: false, reason: 'has no whole view yet' };
    if (this.age <= limits.idle + 10_000) return { name: this.name, ok: true };
    return { name: this.name, ok: false, reason: `silent for ${Math.round(this.age / 1_000)} s` };
  }
}
