// One watch as probes and metrics see it: whether it has a whole view, how long it has been silent, and what keeps it
// from working. A missing right or CRD holds only the controllers that need this watch.

import type { Clock } from '../base/index.ts';
import type { Store } from './cache.ts';
import type { Feed } from './follow.ts';
import type { Check } from './health.ts';
import { type Problems, watchProblem } from './problems.ts';
import type { Limits, Source, WatchReport } from './watch.ts';

export interface WatchedOptions {
  store: Store;
  source: Source;
  clock: Clock;
  limits: Limits;
  problems: Problems;
  /** Whether somebody cannot do without it; an alias of a kind may be absent. */
  needed: boolean;
  /** Told when this watch cannot work at all, and when it can again. */
  hold: (words: string | undefined) => void;
}

export class Watched implements WatchReport {
  readonly feed: Feed;
  readonly source: Source;
  private readonly options: WatchedOptions;
  private state: 'starting' | 'well' | 'troubled' = 'starting';
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

  /** Milliseconds since the last byte. */
  get age(): number {
    return this.options.clock.monotonic() - this.lastByte;
  }

  alive(): void {
    this.lastByte = this.options.clock.monotonic();
  }

  well(): void {
    if (this.state === 'well') return;
    this.state = 'well';
    this.options.problems.set('API server', undefined);
    this.options.problems.set(this.name, undefined);
    this.options.hold(undefined);
  }

  trouble(error: unknown): void {
    this.state = 'troubled';
    const problem = watchProblem(error, this.source.kind);
    if (!problem || (problem.absent && !this.options.needed)) return;
    this.options.problems.set(problem.shared ? 'API server' : this.name, problem.words);
    if (!problem.shared) this.options.hold(problem.words);
  }

  check(): Check {
    const { limits } = this.options;
    if (this.state !== 'well' && !this.options.needed)
      return { name: this.name, ok: true, reason: 'not there, and not needed' };
    if (this.state === 'starting') return { name: this.name, ok: false, reason: 'has no whole view yet' };
    if (this.age <= limits.idle + 10_000) return { name: this.name, ok: true };
    return { name: this.name, ok: false, reason: `silent for ${Math.round(this.age / 1_000)} s` };
  }
}
