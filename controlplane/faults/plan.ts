// The language of fault plans: plain data, so that a failing plan can be printed, kept and run again. A rule says when
// (a trigger over requests, watch events and time) and what (an action on the request, the event, the watches or the
// operator process). check.ts refuses a rule that could never act as it is meant, before a test trusts it.

import type { Refused } from './statuses.ts';

/** One word, or any of several. */
export type Words = string | readonly string[];

/** Which requests; a field that is left out matches all, the empty string matches "none" (core group, no name). */
export interface CallFilter {
  verb?: Words;
  group?: Words;
  version?: Words;
  resource?: Words;
  subresource?: Words;
  namespace?: Words;
  name?: Words;
  fieldManager?: Words;
  userAgent?: Words;
}

/** Which watch events. `field` fires only when the value at the path changed, from `before` to `after` if given; a missing value is null. */
export interface EventFilter {
  on?: 'create' | 'update' | 'delete' | 'bookmark';
  group?: Words;
  resource?: Words;
  kind?: Words;
  namespace?: Words;
  name?: Words;
  field?: { path: readonly string[]; before?: unknown; after?: unknown };
}

/** From which match on (the first, if left out), and then at each `every`th one. */
export interface Counting {
  nth?: number;
  every?: number;
}

/** When a rule acts. `write` counts requests that are meant to change something; `after` is milliseconds since the plan was set. */
export type Trigger =
  | ({ request: CallFilter } & Counting)
  | ({ write: CallFilter } & Counting)
  | ({ event: EventFilter } & Counting)
  | { after: number }
  | { all: readonly Trigger[] }
  | { any: readonly Trigger[] };

/** On the way to the API server, or on the way back. */
export type Side = 'request' | 'answer';

/** Where a request is when the operator process is hit. Who is killed at `applied` never gets the answer. */
export type Moment = 'received' | 'applied' | 'delivered';

/** What happens to the request that triggered it. */
export type RequestAction =
  | { kind: 'delay'; ms: number; at?: Side }
  | { kind: 'hold'; name: string; at?: Side }
  | { kind: 'dropBefore' | 'dropAfter' | 'hang' }
  | ({ kind: 'status' } & Refused)
  /** Only so many bytes of the answer, then a broken connection, or an end as if that were all. */
  | { kind: 'truncate'; bytes: number; end?: 'cut' | 'clean' }
  | { kind: 'drip'; bytes: number; ms: number }
  /** A list or watch that accepts any version (resourceVersion=0) starts from this one; others are served live. */
  | { kind: 'serveOld'; resourceVersion: string }
  /** A WatchList is accepted and never says that it is complete. */
  | { kind: 'silentWatchList'; send: 'nothing' | 'objects' };

/** What happens to the watch event that triggered it. */
export type EventAction =
  | { kind: 'skip' | 'duplicate' | 'garbleLine' | 'splitUtf8' | 'unknownType' }
  /** The event, and after it the one before it of the same object. */
  | { kind: 'replayOlder' }
  /** Instead of the event a line of so many bytes. */
  | { kind: 'oversize'; bytes: number };

/** What happens to watches: those named, else the one that triggered it, else all. */
export type WatchAction =
  /** `from: 'this'` withholds also the event that triggered it. Watches that match and open later are frozen too. */
  | { kind: 'freeze'; watches?: CallFilter; from?: 'this' | 'next' }
  | { kind: 'unfreeze'; watches?: CallFilter; held?: 'deliver' | 'forget' }
  | { kind: 'bookmarkOnly'; watches?: CallFilter }
  | { kind: 'reset' | 'closeClean'; watches?: CallFilter }
  /** An ERROR event with this Status, then a clean close: what the server does for a version that is too old. */
  | ({ kind: 'errorEvent'; watches?: CallFilter } & Refused);

/** What happens to the operator process, when the answer is delivered if not said otherwise. */
export type OperatorAction = { kind: 'kill' | 'pause' | 'resume'; at?: Moment };

/** What becomes of connections: `refuse` also resets those that are open, `stall` lets new ones hang in the TLS handshake. */
export type Manner = 'accept' | 'refuse' | 'stall';

/** What needs no request and no event. */
export type AnytimeAction =
  | WatchAction
  | OperatorAction
  | { kind: 'release'; name: string }
  | { kind: 'connections'; manner: Manner };
export type Action = RequestAction | EventAction | AnytimeAction;

/** `times` bounds how often the rule acts; once if left out. */
export interface Rule {
  when: Trigger;
  do: Action;
  times?: number | 'always';
}

export type Plan = readonly Rule[];

/** What a rule can be about. */
export type Subject = 'request' | 'event' | 'time';

type Target = 'request' | 'event' | 'watches' | 'operator' | 'hold' | 'network';

/** What each action acts on; a request or an event it must have been triggered by. */
export const actsOn: Record<Action['kind'], Target> = {
  delay: 'request',
  hold: 'request',
  dropBefore: 'request',
  dropAfter: 'request',
  hang: 'request',
  status: 'request',
  truncate: 'request',
  drip: 'request',
  serveOld: 'request',
  silentWatchList: 'request',
  skip: 'event',
  duplicate: 'event',
  garbleLine: 'event',
  splitUtf8: 'event',
  unknownType: 'event',
  replayOlder: 'event',
  oversize: 'event',
  freeze: 'watches',
  unfreeze: 'watches',
  bookmarkOnly: 'watches',
  reset: 'watches',
  closeClean: 'watches',
  errorEvent: 'watches',
  kill: 'operator',
  pause: 'operator',
  resume: 'operator',
  release: 'hold',
  connections: 'network',
};

export const onRequest = (action: Action): action is RequestAction => actsOn[action.kind] === 'request';
export const onEvent = (action: Action): action is EventAction => actsOn[action.kind] === 'event';
export const onWatches = (action: Action): action is WatchAction => actsOn[action.kind] === 'watches';
export const onOperator = (action: Action): action is OperatorAction => actsOn[action.kind] === 'operator';

/** Whether an action can be carried out on such an occasion. */
export const fits = (action: Action, subject: Subject): boolean =>
  onRequest(action) ? subject === 'request' : !onEvent(action) || subject === 'event';

/** Whether a rule looks at, or touches, single watch events. */
export const concernsEvents = ({ when, do: action }: Rule): boolean => subjects(when).has('event') || onEvent(action);

/** On which occasions a trigger can fire. */
export function subjects(when: Trigger): ReadonlySet<Subject> {
  if ('request' in when || 'write' in when) return new Set(['request']);
  if ('event' in when) return new Set(['event']);
  if ('after' in when) return new Set(['request', 'event', 'time']);
  const parts = 'all' in when ? when.all.filter((part) => !('after' in part)) : when.any;
  if (parts.length === 0) return new Set(['request', 'event', 'time']);
  return new Set(parts.flatMap((part) => [...subjects(part)]));
}
