// List and watch as one step function: a state in, one conversation with the API server, the next state out. The
// loop around it never gives up; everything that went wrong only decides how the next step begins.

import { type Clock, delayAfter, sleep } from '../base/index.ts';
import type { Kind } from '../objects/index.ts';
import { ApiError, type Client } from './client/index.ts';
import { type Feed, Follower } from './follow.ts';
import { parseEvent, parsePage } from './parse.ts';

/** What to watch: a kind, in one namespace or in all, all objects or those that a selector chooses. */
export interface Source {
  kind: Kind;
  namespace?: string;
  labelSelector?: string;
  metadataOnly: boolean;
  /** For a kind that need not be served: the milliseconds after which it is looked for again. */
  noticedWithin?: number;
}

/** How a watch stands, for probes, metrics and logs. */
export interface WatchReport {
  /** A byte arrived. */
  alive(): void;
  /** The view is whole and followed. */
  well(): void;
  trouble(error: unknown): void;
  /** Whether nobody would care just now what another look brings. */
  idle(): boolean;
}

export interface Limits {
  /** A watch without a byte for this long is taken for dead. Bookmarks come once a minute. */
  idle: number;
  /** A streamed list without a byte for this long falls back to pages. */
  listSilence: number;
  /** A whole fresh view is taken after this long, in case an event was lost without a trace. */
  fresh: number;
  /** Waits between attempts; what is blind longer than a second is a fault. */
  retry: { first: number; most: number };
  /** The wait while a permission or a CRD is missing. */
  refused: number;
  pageSize: number;
}

export const defaultLimits: Limits = {
  idle: 80_000,
  listSilence: 10_000,
  fresh: 3_600_000,
  retry: { first: 50, most: 800 },
  refused: 3_000,
  pageSize: 250,
};

export interface WatchOptions {
  client: Client;
  source: Source;
  feed: Feed;
  report: WatchReport;
  clock: Clock;
  random: () => number;
  limits: Limits;
  signal: AbortSignal;
}

/** `blind`: take a fresh view, by a stream or by pages. `following`: go on from a resourceVersion. */
export type State = { failures: number; listBy: 'stream' | 'pages'; wait: number } & (
  | { at: 'blind' }
  | { at: 'following'; resourceVersion: string; viewed: number }
);

export const beginning: State = { at: 'blind', failures: 0, listBy: 'stream', wait: 0 };

/** Watches until the signal aborts. */
export async function watch(options: WatchOptions): Promise<void> {
  let state = beginning;
  while (!options.signal.aborted) {
    if (state.wait > 0) await sleep(options.clock, state.wait, options.signal);
    if (!options.signal.aborted && !options.report.idle()) state = await step(state, options);
  }
}

/** One conversation: a list, or a watch until it ends for whatever reason. */
export async function step(state: State, options: WatchOptions): Promise<State> {
  const session = new Session(state, options);
  const byPages = state.listBy === 'pages' && !session.follows;
  const end = await (byPages ? session.page() : session.stream()).catch((error: unknown) => error);
  return session.next(end);
}

/** A watch that fell silent: nothing was said, so nothing was missed that a new watch would not bring. */
class Silence extends Error {
  override readonly name = 'Silence';
}

/** A session that lasted this long, or brought anything, was no failure to connect. */
const lasting = 5_000;

class Session {
  private readonly options: WatchOptions;
  private readonly from: State;
  private readonly follower: Follower;
  private readonly controller = new AbortController();
  private readonly began: number;
  private viewed: number;
  private lastByte: number;
  private events = 0;
  private broken: unknown;

  constructor(from: State, options: WatchOptions) {
    this.from = from;
    this.options = options;
    this.began = this.lastByte = options.clock.monotonic();
    this.viewed = from.at === 'following' ? from.viewed : this.began;
    const isOld = this.began - this.viewed > options.limits.fresh;
    this.follower = new Follower(
      options.feed,
      this.began,
      from.at === 'following' && !isOld ? from.resourceVersion : undefined,
    );
  }

  /** Whether it goes on from a known point; else it takes a whole view first. */
  get follows(): boolean {
    return this.follower.whole;
  }

  /** A list in pages; none of them is longer than the event loop can bear. */
  async page(): Promise<void> {
    const { client, source, limits, signal, report } = this.options;
    for (let next = ''; ; ) {
      const query = { ...this.selection(), limit: String(limits.pageSize), ...(next && { continue: next }) };
      const text = await client.listText(source.kind, source.namespace, query, {
        signal,
        metadataOnly: source.metadataOnly,
      });
      const page = parsePage(text, source.kind);
      for (const entry of page.entries) this.follower.collect(entry);
      report.alive();
      next = page.next;
      if (next !== '') continue;
      this.events++;
      this.viewed = this.began;
      this.follower.complete(page.resourceVersion);
      return report.well();
    }
  }

  /** A watch; when nothing is known yet, one that starts with all that there is. */
  async stream(): Promise<void> {
    const { client, source, signal } = this.options;
    const stop = () => this.controller.abort();
    signal.addEventListener('abort', stop, { once: true });
    const cancel = this.keepTime();
    try {
      const handler = {
        onOpen: () => this.opened(),
        onLine: (line: string) => this.line(line),
        onData: () => this.heard(),
      };
      const options = { signal: this.controller.signal, metadataOnly: source.metadataOnly };
      await client.watch(source.kind, source.namespace, this.watchQuery(), handler, options);
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  }

  /** The next state, from how this session ended. */
  next(end: unknown): State {
    const { limits, random, report } = this.options;
    const error = this.broken ?? end;
    const silent = error instanceof Silence;
    const refused = this.refusesStream(error);
    if (error !== undefined && !silent && !refused && !this.options.signal.aborted) report.trouble(error);
    const listBy = refused || (silent && !this.follower.whole) ? 'pages' : this.from.listBy;
    const failures = this.failuresAfter(error);
    const wait = Math.max(
      failures === 0 ? 0 : delayAfter(failures, limits.retry, random),
      askedWait(error, this.options),
    );
    const resourceVersion =
      this.follower.resourceVersion ?? (this.from.at === 'following' ? this.from.resourceVersion : undefined);
    if (resourceVersion === undefined || voidsView(error)) return { at: 'blind', failures, listBy, wait };
    return { at: 'following', resourceVersion, viewed: this.viewed, failures, listBy, wait };
  }

  /** An API server that does not know streamed lists, or has them switched off, takes the query for a mistake. */
  private refusesStream(error: unknown): boolean {
    const streams = !this.follows && this.from.listBy === 'stream';
    return streams && error instanceof ApiError && (error.status === 400 || error.status === 422);
  }

  private failuresAfter(error: unknown): number {
    const short = this.options.clock.monotonic() - this.began <= lasting;
    // A view that is void at once was of no use, however much it brought: to take it again and again would be a storm.
    if (short && (this.events === 0 || voidsView(error))) return this.from.failures + 1;
    return error === undefined ? 0 : 1;
  }

  private line(text: string): void {
    if (this.broken !== undefined) return;
    try {
      const wasWhole = this.follower.whole;
      this.follower.take(parseEvent(text, this.options.source.kind));
      this.events++;
      if (!wasWhole && this.follower.whole) this.viewed = this.options.clock.monotonic();
      if (this.follower.whole) this.options.report.well();
    } catch (error) {
      this.end(error);
    }
  }

  /** A watch that goes on from a known point is well as soon as the server takes it; the next event may be long in coming. */
  private opened(): void {
    this.heard();
    if (this.follower.whole) this.options.report.well();
  }

  private heard(): void {
    this.lastByte = this.options.clock.monotonic();
    this.options.report.alive();
  }

  private end(error: unknown): void {
    this.broken ??= error;
    this.controller.abort();
  }

  /** Ends the session when it falls silent. */
  private keepTime(): () => void {
    const { clock, limits } = this.options;
    let cancel = () => {};
    const look = () => {
      const limit = this.follower.whole ? limits.idle : limits.listSilence;
      const left = limit - (clock.monotonic() - this.lastByte);
      if (left <= 0) return this.end(new Silence('no byte arrived in time'));
      cancel = clock.after(Math.min(left, limits.listSilence), look);
    };
    look();
    return () => cancel();
  }

  private watchQuery(): Record<string, string> {
    const timeoutSeconds = String(300 + Math.floor(this.options.random() * 300));
    const query = { ...this.selection(), watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds };
    const { resourceVersion } = this.follower;
    if (resourceVersion !== undefined) return { ...query, resourceVersion };
    return { ...query, sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };
  }

  private selection(): Record<string, string> {
    const { labelSelector } = this.options.source;
    return labelSelector === undefined ? {} : { labelSelector };
  }
}

/** What an answer makes us wait: a server that is too busy says how long, and a missing right does not come in a moment. */
function askedWait(error: unknown, { limits, source }: WatchOptions): number {
  if (!(error instanceof ApiError)) return 0;
  const refused = error.status === 401 || error.status === 403 || error.status === 404;
  const wait = error.status === 404 ? (source.noticedWithin ?? limits.refused) : limits.refused;
  return Math.max(refused ? wait : 0, error.retryAfter ?? 0);
}

/** After these the view may have a hole, or a past that never was: only a whole new one will do. */
function voidsView(error: unknown): boolean {
  if (error === undefined || error instanceof Silence) return false;
  if (!(error instanceof ApiError)) return true; // a line that nobody understood, or a fault in taking it in
  if (error.status === 403 || error.status === 404) return true;
  return (
    error.status === 410 || /expired|gone/i.test(error.reason) || /too large resource version/i.test(error.message)
  );
}
