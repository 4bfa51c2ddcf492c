// Leader election by a Lease: the rules of standing.ts, put to work. Its client must not be fenced by it, or a candidate
// could never begin; everything else that writes asks `fence` before each write. See docs/design/0007-election.md.

import { type Clock, type Log, sleep } from '../base/index.ts';
import { type Kind, Lease, manager } from '../objects/index.ts';
import { ApiError, type Ref, type RequestOptions } from './client/index.ts';
import {
  type Candidate,
  type Happening,
  type LeaseTimes,
  type Standing,
  defaultTimes,
  mayWriteAt,
  patienceOf,
  releasedOf,
  restOf,
  step,
  wishOf,
} from './standing.ts';

export type { LeaseTimes, Standing } from './standing.ts';

/** What the election asks of a client. */
export interface LeaseClient {
  get(kind: Kind<Lease>, ref: Ref, options: RequestOptions): Promise<Lease>;
  create(kind: Kind<Lease>, lease: Lease, options: RequestOptions & { manager: string }): Promise<Lease>;
  update(kind: Kind<Lease>, lease: Lease, options: RequestOptions & { manager: string }): Promise<Lease>;
}

export interface ElectionOptions {
  /** Not fenced by this election. */
  client: LeaseClient;
  clock: Clock;
  log: Log;
  /** Different for every process that ever ran. */
  identity: string;
  namespace: string;
  name: string;
  times?: Partial<LeaseTimes>;
  /** Called at once when leadership begins, and when it ends for whatever reason. */
  onStart: () => void;
  onStop: (why: string) => void;
}

/** A write was held back because this process does not lead, or no longer knows that it does. */
export class NotLeading extends Error {
  override readonly name = 'NotLeading';
}

/** Tries at a release; each conflict means that a late renewal of our own got in between. */
const releaseTries = 3;

export class Election {
  readonly #options: ElectionOptions;
  readonly #me: Candidate;
  readonly #stopping = new AbortController();
  #standing: Standing = { as: 'standby' };
  #problem: unknown;
  #claimed = false;
  #holder: string | undefined;
  #rounds: Promise<void> = Promise.resolve();

  constructor(options: ElectionOptions) {
    const times = { ...defaultTimes, ...options.times };
    if (times.renew >= times.renewDeadline || times.renewDeadline >= times.lease)
      throw new RangeError('a leader must renew before its deadline, and stop before its lease ends');
    this.#options = options;
    const { identity, namespace, name } = options;
    this.#me = { identity, namespace, name, times };
  }

  get standing(): Standing['as'] {
    return this.#standing.as;
  }

  /** Why the Lease cannot be read or written just now. */
  get problem(): unknown {
    return this.#problem;
  }

  /** Whether a write may begin now. Asked on the monotonic clock, so a process that was stopped knows at once. */
  mayWrite(): boolean {
    return mayWriteAt(this.#standing, this.#at(), this.#me.times);
  }

  /** The fence for a client: the error with which a write is held back. */
  readonly fence = (): Error | undefined =>
    this.mayWrite() ? undefined : new NotLeading(`this process does not lead: it is ${this.#standing.as}`);

  /** Begins to stand for election; returns at once. */
  start(): void {
    this.#rounds = this.#run(this.#stopping.signal);
  }

  /** Stops leading and lets the next one in. Let running passes end before. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    this.#become({ as: 'released' }, 'this process stops');
    await this.#rounds;
    if (this.#claimed) await this.#release();
  }

  #at(): number {
    return this.#options.clock.monotonic();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#round(signal);
      await sleep(this.#options.clock, restOf(this.#standing, this.#me, this.#at()), signal);
    }
  }

  /**
   * One look if there is something to find out, and one write if there is something to write. No rest and no request of
   * a leader is longer than what is left of its deadline, so a round begins when the deadline passes, and ends the term.
   */
  async #round(signal: AbortSignal): Promise<void> {
    this.#happened({ is: 'passed', at: this.#at() });
    const certain = this.#standing.as === 'leading' && !this.#standing.unsure;
    if (!certain && !(await this.#look(signal))) return;
    const wish = wishOf(this.#standing, this.#me, { now: this.#options.clock.now(), at: this.#at() });
    if (wish) return this.#write(wish, signal);
    this.#problem = undefined;
  }

  async #look(signal: AbortSignal): Promise<boolean> {
    try {
      const lease = await this.#options.client.get(Lease, this.#me, this.#bounds(signal));
      this.#happened({ is: 'saw', lease, at: this.#at() });
      return true;
    } catch (error) {
      const missing = error instanceof ApiError && error.status === 404;
      if (missing) this.#happened({ is: 'saw', lease: undefined, at: this.#at() });
      else this.#unanswered(error);
      return missing;
    }
  }

  async #write(wish: Lease, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const verb = wish.metadata.resourceVersion === undefined ? 'create' : 'update';
    const asked = this.#at();
    this.#claimed = true;
    try {
      const lease = await client[verb](Lease, wish, { ...this.#bounds(signal), manager: manager.children });
      this.#problem = undefined;
      this.#happened({ is: 'confirmed', lease, asked, at: this.#at() });
    } catch (error) {
      const { status } = error instanceof ApiError ? error : { status: 0 };
      const beaten = status === 409 || (status === 404 && verb === 'update');
      if (beaten) this.#happened({ is: 'refused', at: this.#at() });
      else this.#unanswered(error);
    }
  }

  /** Each request has its own deadline, so that one that hangs does not cost the lease. */
  #bounds(signal: AbortSignal): { deadline: number; signal: AbortSignal } {
    return { deadline: patienceOf(this.#standing, this.#me, this.#at()), signal };
  }

  /** Said once, not every second; and not at all when it was our own stop that cut the request off. */
  #unanswered(error: unknown): void {
    const { namespace, name } = this.#me;
    if (this.#stopping.signal.aborted) return;
    if (String(error) !== String(this.#problem))
      this.#options.log.warn('cannot use the lease of the leader election', { namespace, name, error });
    this.#problem = error;
    this.#happened({ is: 'unanswered', at: this.#at() });
  }

  #happened(event: Happening): void {
    const next = step(this.#standing, event, this.#me);
    this.#become(next, next.as === 'lost' ? next.why : '');
  }

  #become(next: Standing, why: string): void {
    const { onStart, onStop } = this.#options;
    const led = this.#standing.as === 'leading';
    this.#standing = next;
    this.#say(next, led, why);
    if (!led && next.as === 'leading') onStart();
    if (led && next.as !== 'leading') onStop(why);
  }

  /** Who leads: said when it changes, not at every renewal. */
  #say(next: Standing, led: boolean, why: string): void {
    const { log, namespace, name, identity } = this.#options;
    const lease = `${namespace}/${name}`;
    if (led && next.as !== 'leading') log.info('this process does not lead any more', { lease, identity, why });
    const holder = holderIn(next, identity);
    if (holder === undefined || holder === this.#holder) return;
    this.#holder = holder;
    if (holder === identity) log.info('this process leads', { lease, identity });
    else log.info('another process leads, this one stands by', { lease, identity, holder });
  }

  async #release(): Promise<void> {
    const { client, clock, log } = this.#options;
    const deadline = this.#me.times.retry * 2;
    for (let tries = 1; tries <= releaseTries; tries++) {
      try {
        const lease = await client.get(Lease, this.#me, { deadline });
        if (lease.spec?.holderIdentity !== this.#me.identity) return;
        await client.update(Lease, releasedOf(lease, clock.now()), { deadline, manager: manager.children });
        return;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return;
        if (error instanceof ApiError && error.status === 409 && tries < releaseTries) continue;
        log.warn('cannot release the lease; a standby takes it when it has run out', { error });
        return;
      }
    }
  }
}

/** Who leads, as far as this candidate knows. */
function holderIn(standing: Standing, identity: string): string | undefined {
  if (standing.as === 'leading') return identity;
  const holder = standing.as === 'standby' ? standing.seen?.lease?.spec?.holderIdentity : undefined;
  return holder === '' || holder === identity ? undefined : holder;
}
