// The life of one request: what the plan does to it before it is sent, the answer, and what the plan does to that.
// Without a plan it is sent on at once and its answer passed through.

import { sleep } from '../../src/base/index.ts';
import { changes } from './classify.ts';
import { asEvents, listAt, watchFrom } from './old.ts';
import {
  type Action,
  type Moment,
  onOperator,
  onRequest,
  onWatches,
  type OperatorAction,
  type RequestAction,
  type Side,
  type WatchAction,
} from './plan.ts';
import { surprising } from './rig.ts';
import { codes, type Refused, statusBody } from './statuses.ts';
import type { WatchStream } from './stream.ts';
import { type Errand, keeping, type Outcome, passing, watching } from './takers.ts';
import type { Outgoing, Taker } from './upstream.ts';

/** An errand with what the plan has in store for it. */
interface Exchange extends Errand {
  outgoing: Outgoing;
  actions: readonly Action[];
}

/** Whether the request goes on, or its story is over. */
type Verdict = 'go' | 'over';

/** Runs one request to its end. */
export async function exchange(errand: Errand, outgoing: Outgoing): Promise<void> {
  const { rig, call, outlet } = errand;
  const actions = rig.occur({ subject: 'request', at: call.at, call });
  outlet.onEnd(() => (call.deliveredAt = rig.clock.monotonic()));
  outlet.onGone(() => (call.deliveredAt = undefined));
  if (actions.length === 0) return send({ ...errand, outgoing, actions });
  call.faults.push(...actions.map(({ kind }) => kind));
  await meddle({ ...errand, outgoing, actions });
}

/** The straight way. */
function send(one: Exchange): void {
  const { call, rig } = one;
  const openAtOnce = { admit: () => 'go' as const, opened: (stream: WatchStream) => rig.watches.opened(stream) };
  dispatch(one, one.outgoing, call.verb === 'watch' ? watching(one, openAtOnce) : passing(one));
}

/** Sends it. A read whose caller has left is given up; a write stays on its way, as one on a wire would. */
function dispatch({ rig, call, outlet }: Errand, outgoing: Outgoing, taker: Taker): void {
  call.sentAt = rig.clock.monotonic();
  const giveUp = rig.upstream.send(outgoing, taker);
  if (!changes(call)) outlet.onGone(giveUp);
}

async function meddle(one: Exchange): Promise<void> {
  one.outlet.onDelivered(() =>
    one.actions.filter(onOperator).forEach((action) => surprising(hit(one, action, 'delivered'))),
  );
  if ((await inTurn(one, onTheWay)) === 'over') return;
  for (const action of one.actions) {
    if (action.kind === 'truncate') one.outlet.spoil({ truncate: { bytes: action.bytes, end: action.end ?? 'cut' } });
    if (action.kind === 'drip') one.outlet.spoil({ drip: action });
  }
  if (one.call.verb === 'watch') return openWatch(one);
  deliver(one, await answered(one));
}

async function inTurn(one: Exchange, step: (one: Exchange, action: Action) => Promise<Verdict>): Promise<Verdict> {
  for (const action of one.actions) if ((await step(one, action)) === 'over') return 'over';
  return 'go';
}

/** What an action does before the request is sent. */
async function onTheWay(one: Exchange, action: Action): Promise<Verdict> {
  if (onRequest(action)) return onItsWay(one, action);
  if (onOperator(action)) await hit(one, action, 'received');
  else if (!concernsItself(one, action)) await one.rig.perform(action);
  return 'go';
}

/** Actions after which the request is never sent. */
const endings = new Set<Action['kind']>(['hang', 'dropBefore', 'status']);

async function onItsWay(one: Exchange, action: RequestAction): Promise<Verdict> {
  if (action.kind === 'delay' || action.kind === 'hold') await wait(one, action, 'request');
  if (action.kind === 'dropBefore') one.outlet.reset();
  if (action.kind === 'status') refuse(one, action);
  return endings.has(action.kind) ? 'over' : 'go';
}

/** What an action does when the answer is there. */
async function onTheWayBack(one: Exchange, action: Action): Promise<Verdict> {
  if (action.kind === 'delay' || action.kind === 'hold') await wait(one, action, 'answer');
  if (onOperator(action)) await hit(one, action, 'applied');
  const lost = action.kind === 'dropAfter' || (action.kind === 'kill' && action.at === 'applied');
  if (lost) one.outlet.reset();
  return lost ? 'over' : 'go';
}

async function hit({ rig }: Exchange, action: OperatorAction, moment: Moment): Promise<void> {
  if ((action.at ?? 'delivered') === moment) await rig.perform(action);
}

/** Whether an action without a filter is meant for the very watch that this request opens. */
const concernsItself = ({ call }: Exchange, action: Action): action is WatchAction =>
  call.verb === 'watch' && onWatches(action) && action.watches === undefined;

async function wait(
  { rig, call }: Exchange,
  action: RequestAction & { kind: 'delay' | 'hold' },
  side: Side,
): Promise<void> {
  if ((action.at ?? 'request') !== side) return;
  if (action.kind === 'delay') await sleep(rig.clock, action.ms);
  else await rig.holds.wait(action.name, call);
}

/** Answers in the API server's place. */
function refuse({ call, outlet, rig }: Exchange, refused: Refused): void {
  const body = Buffer.from(JSON.stringify(statusBody(refused, call)));
  const status = codes[refused.reason];
  call.answer = { status, reason: refused.reason, resourceVersion: '', uid: '', at: rig.clock.monotonic() };
  if (changes(call)) call.effective = false;
  outlet.head(status, {
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...(refused.retryAfter !== undefined && { 'retry-after': String(refused.retryAfter) }),
  });
  outlet.write(body);
  outlet.end();
}

const oldVersion = ({ actions }: Exchange): string | undefined =>
  actions.find((action) => action.kind === 'serveOld')?.resourceVersion;

async function answered(one: Exchange): Promise<Outcome> {
  const version = oldVersion(one);
  const outgoing = version === undefined ? one.outgoing : listAt(one.outgoing, version);
  const outcome = await ask(one, outgoing);
  return (await inTurn(one, onTheWayBack)) === 'over' ? 'lost' : outcome;
}

const ask = (one: Exchange, outgoing: Outgoing): Promise<Outcome> =>
  new Promise((done) => dispatch(one, outgoing, keeping(one, done)));

function deliver({ outlet }: Exchange, outcome: Outcome): void {
  if (outcome === 'lost') return;
  if ('failure' in outcome) return outlet.reset();
  outlet.head(outcome.status, outcome.headers);
  outlet.write(outcome.body);
  outlet.end();
}

async function openWatch(one: Exchange): Promise<void> {
  const admit = () => inTurn(one, onTheWayBack);
  const opened = (stream: WatchStream) => begin(one, stream);
  const version = oldVersion(one);
  if (version === undefined) return dispatch(one, one.outgoing, watching(one, { admit, opened }));
  const list = await ask(one, listAt(one.outgoing, version));
  if (list === 'lost' || 'failure' in list || list.status !== 200) return deliver(one, list);
  const first = asEvents(list.body, one.call.sendInitialEvents ? 'marked' : 'unmarked');
  dispatch(one, watchFrom(one.outgoing, version), watching(one, { admit, opened, first }));
}

/** What the plan does to a watch from its first moment on. */
function begin(one: Exchange, stream: WatchStream): void {
  one.rig.watches.opened(stream);
  for (const action of one.actions) {
    if (action.kind === 'silentWatchList') stream[action.send === 'nothing' ? 'fallSilent' : 'hideEnd']();
    else if (
      action.kind !== 'kill' &&
      action.kind !== 'pause' &&
      action.kind !== 'resume' &&
      concernsItself(one, action)
    )
      surprising(one.rig.perform(action, stream));
  }
}
