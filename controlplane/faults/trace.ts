// What went through the proxy, in order: every request with its answer, and every watch event. The oracles of the
// fault tests read it: which writes changed something, what was sent while, what the operator has not seen.

import { changes, type Target } from './classify.ts';
import { matches } from './filter.ts';
import type { CallFilter } from './plan.ts';

/** What the API server said, or what the proxy said in its place. `at` is when it was complete. */
export interface Answer {
  status: number;
  reason: string;
  resourceVersion: string;
  uid: string;
  at: number;
}

/** One request. Times are monotonic milliseconds. */
export interface Call extends Target {
  seq: number;
  at: number;
  fieldManager: string;
  dryRun: boolean;
  /** Of the query, else of the body. */
  resourceVersion: string;
  sendInitialEvents: boolean;
  contentType: string;
  userAgent: string;
  bodyHash: string;
  /** The text of a write, for oracles that compare what was sent. */
  body: string;
  /** When it was passed on to the API server; undefined if it never was. */
  sentAt: number | undefined;
  answer: Answer | undefined;
  /** When the whole answer had been handed to the caller; undefined if it was lost, or has not ended. */
  deliveredAt: number | undefined;
  /** Why there is no answer, where a connection broke. */
  failure: string | undefined;
  /** The kinds of the actions that hit it. */
  faults: string[];
  /** Whether a write changed something: its answer is newer than all that the proxy had seen when it passed it on. */
  effective: boolean | undefined;
}

/** One event of a watch, when it came; `deliveredAt` is when the operator was given it, if it was. */
export interface WatchEvent {
  seq: number;
  at: number;
  /** The `seq` of the watch request. */
  watch: number;
  type: string;
  group: string;
  resource: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  resourceVersion: string;
  deliveredAt: number | undefined;
}

/** A part of a trace. */
export interface Stretch {
  calls: Call[];
  events: WatchEvent[];
}

/** Everything that went through, and questions about it. */
export interface Trace extends Readonly<Stretch> {
  /** Requests that match, in the order of their coming. */
  requests(filter?: CallFilter): Call[];
  /** Requests that were meant to change something: no dry runs, no access reviews. */
  writes(filter?: CallFilter): Call[];
  /** A point in the trace, for `since`. */
  mark(): number;
  since(mark: number): Stretch;
  /** What began in this span of monotonic milliseconds, both ends included. */
  between(from: number, to: number): Stretch;
  clear(): void;
}

/** The writing side of a trace. */
export interface Recorder {
  trace: Trace;
  call(call: Omit<Call, 'seq'>): Call;
  event(event: Omit<WatchEvent, 'seq'>): WatchEvent;
  /** Takes note of a resourceVersion that exists. */
  saw(resourceVersion: string): void;
  /** The newest resourceVersion of all that went through. */
  newest(): number;
}

/** Starts an empty trace. */
export function makeRecorder(): Recorder {
  let seq = 0;
  let newest = 0;
  const calls: Call[] = [];
  const events: WatchEvent[] = [];
  const saw = (resourceVersion: string) => {
    const version = Number(resourceVersion);
    if (version > newest) newest = version;
  };
  return {
    trace: questions(calls, events, () => seq),
    call: (call) => push(calls, { ...call, seq: ++seq }),
    event(event) {
      saw(event.resourceVersion);
      return push(events, { ...event, seq: ++seq });
    },
    saw,
    newest: () => newest,
  };
}

function questions(calls: Call[], events: WatchEvent[], mark: () => number): Trace {
  const part = (wanted: (entry: Call | WatchEvent) => boolean): Stretch => ({
    calls: calls.filter(wanted),
    events: events.filter(wanted),
  });
  const requests = (filter: CallFilter = {}) => calls.filter((call) => matches(filter, call));
  return {
    calls,
    events,
    requests,
    writes: (filter) => requests(filter).filter(changes),
    mark,
    since: (from) => part(({ seq }) => seq > from),
    between: (from, to) => part(({ at }) => at >= from && at <= to),
    clear() {
      calls.length = 0;
      events.length = 0;
    },
  };
}

function push<T>(list: T[], entry: T): T {
  list.push(entry);
  return entry;
}
