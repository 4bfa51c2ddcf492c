// One watch on its way through the proxy. Lines go straight on, and are read for the trace after that, unless a plan
// looks at events or the stream is in a state of its own: frozen, bookmarks only, or never complete.

import type { Clock } from '../../src/base/index.ts';
import { parsed } from './answers.ts';
import { makeGate } from './gate.ts';
import { awkwardParts, linesOf, wholeLines } from './lines.ts';
import type { Outlet } from './outlet.ts';
import { type Action, type EventAction, onEvent } from './plan.ts';
import { type Refused, statusBody } from './statuses.ts';
import type { Call, Recorder, WatchEvent } from './trace.ts';

export interface WatchStream {
  readonly call: Call;
  take(chunk: Buffer): void;
  /** The API server ended the watch: the caller hears of it when all that is held is delivered. */
  upstreamEnded(): void;
  freeze(): void;
  thaw(held: 'deliver' | 'forget'): void;
  onlyBookmarks(): void;
  /** A WatchList whose end is never told. */
  hideEnd(): void;
  /** Nothing ever comes again, and the connection stays. */
  fallSilent(): void;
  normal(): void;
  reset(): void;
  closeClean(): void;
  fail(refused: Refused): void;
}

/** What a stream tells the world around it. */
export interface StreamSetting {
  call: Call;
  outlet: Outlet;
  clock: Clock;
  recorder: Recorder;
  /** Whether the plan in force looks at events at all. */
  watched: () => boolean;
  /** Whether it may show them again. */
  replays: () => boolean;
  /** The actions that this event sets off. */
  occur: (event: WatchEvent, object: unknown) => Action[];
  /** Carries out what concerns more than this event. */
  perform: (action: Action, stream: WatchStream) => void;
  giveUp: () => void;
}

interface Line {
  bytes: Buffer;
  event: WatchEvent;
  object: unknown;
}

/** Opens the stream of a watch that the API server accepted. */
export function makeStream(setting: StreamSetting): WatchStream {
  const { call, outlet, giveUp } = setting;
  const state = { onlyBookmarks: false, hidesEnd: false };
  const gate = makeGate(outlet, setting.clock);
  const whole = wholeLines();
  const end = () => {
    giveUp();
    outlet.end();
  };
  const stream: WatchStream = {
    call,
    take(chunk) {
      const block = whole(chunk);
      const straight = !setting.watched() && !gate.shut() && !state.onlyBookmarks && !state.hidesEnd;
      if (straight && block.length > 0) outlet.write(block);
      for (const bytes of linesOf(block)) {
        const line = read(bytes, setting);
        if (straight) line.event.deliveredAt = line.event.at;
        else handle(line);
      }
    },
    upstreamEnded: () => gate.end(),
    freeze: () => gate.close(),
    thaw: (held) => gate.open(held),
    onlyBookmarks: () => void (state.onlyBookmarks = true),
    hideEnd: () => void (state.hidesEnd = true),
    fallSilent: giveUp,
    normal() {
      Object.assign(state, { onlyBookmarks: false, hidesEnd: false });
      gate.open('deliver');
    },
    reset() {
      giveUp();
      outlet.reset();
    },
    closeClean: end,
    fail(refused) {
      outlet.write(lineOf({ type: 'ERROR', object: statusBody(refused, call) }));
      end();
    },
  };
  const remember = remembering();
  const handle = (line: Line) => {
    const actions = setting.occur(line.event, line.object);
    const early = actions.filter((action) => action.kind === 'freeze' && action.from === 'this');
    for (const action of early) setting.perform(action, stream);
    const before = setting.replays() ? remember(line) : undefined;
    if (!hidden(line, state)) gate.pass({ parts: render(line, actions.filter(onEvent), before), event: line.event });
    for (const action of actions) if (!early.includes(action)) setting.perform(action, stream);
  };
  return stream;
}

/** Gives the line before this one of the same object. */
function remembering(): (line: Line) => Buffer | undefined {
  const lines = new Map<string, Buffer>();
  return ({ bytes, event: { namespace, name } }) => {
    const before = lines.get(`${namespace}/${name}`);
    lines.set(`${namespace}/${name}`, bytes);
    return before;
  };
}

/** An event as a line of the stream. */
export const lineOf = (event: { type: string; object: unknown }): Buffer => Buffer.from(`${JSON.stringify(event)}\n`);

interface AnyEvent {
  type?: string;
  object?: {
    kind?: string;
    metadata?: {
      name?: string;
      namespace?: string;
      uid?: string;
      resourceVersion?: string;
      annotations?: Record<string, string>;
    };
  };
}

function read(bytes: Buffer, { call, clock, recorder }: StreamSetting): Line {
  const { type = '', object } = (parsed(bytes.toString('utf8')) ?? {}) as AnyEvent;
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = object?.metadata ?? {};
  const { seq: watch, group, resource } = call;
  const kind = object?.kind ?? '';
  const at = clock.monotonic();
  const about = { watch, type, group, resource, kind, namespace, name, uid, resourceVersion };
  return { bytes, object, event: recorder.event({ ...about, at, deliveredAt: undefined }) };
}

const hidden = ({ event, object }: Line, state: { onlyBookmarks: boolean; hidesEnd: boolean }): boolean =>
  (state.onlyBookmarks && event.type !== 'BOOKMARK') || (state.hidesEnd && endsInitial(object));

const endsInitial = (object: unknown): boolean =>
  (object as AnyEvent['object'])?.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true';

/** What is written for an event: one part as a rule, more where they have to leave apart, none where it is skipped. */
const render = (line: Line, actions: readonly EventAction[], before: Buffer | undefined): Buffer[] =>
  actions.reduce<Buffer[]>((parts, action) => spoilings[action.kind](parts, { line, before, action }), [line.bytes]);

interface Spoiled {
  line: Line;
  before: Buffer | undefined;
  action: EventAction;
}

const lineEnd = Buffer.from('\n');

const spoilings: Record<EventAction['kind'], (parts: Buffer[], spoiled: Spoiled) => Buffer[]> = {
  skip: () => [],
  duplicate: (parts) => [Buffer.concat([...parts, ...parts])],
  garbleLine: (_, { line: { bytes } }) => [Buffer.concat([bytes.subarray(0, Math.floor(bytes.length / 2)), lineEnd])],
  splitUtf8: (parts) => awkwardParts(Buffer.concat(parts)),
  unknownType: (_, { line: { object } }) => [lineOf({ type: 'RENAMED', object })],
  oversize: (parts, { action }) =>
    action.kind === 'oversize' ? [Buffer.concat([Buffer.alloc(action.bytes - 1, 'x'), lineEnd])] : parts,
  replayOlder: (parts, { before }) => (before === undefined ? parts : [Buffer.concat([...parts, before])]),
};
