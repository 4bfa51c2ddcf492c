// One pass for one object: observe, decide, act, tell. The only place where deciding and doing meet.

import { asError, type Clock, type Log } from '../base/index.ts';
import {
  type CommonStatus,
  conditionOf,
  type Kind,
  type KubeEvent,
  type KubeObject,
  manager,
} from '../objects/index.ts';
import { act, type ActOptions, type Outcome } from './act.ts';
import type { Store } from './cache.ts';
import { nameOf, type Owner } from './child.ts';
import type { Circuit, Open } from './circuit.ts';
import { ApiError, type Client } from './client/index.ts';
import { type ControllerDefinition, type Decision, type Parent, type Reader, Terminal } from './define.ts';
import { driftOf, isNews, post, turnedBad, warningOf } from './events.ts';
import type { Gatherer } from './gather.ts';
import { NotLeading } from './lease.ts';
import { observe, type Stores } from './observe.ts';
import { judged, Refusal, Stale } from './refusal.ts';
import { type Key, keyText, type Subscriptions } from './routes.ts';
import { leavingStatus, refusedStatus, tell, type TellOptions, withSetback } from './status.ts';

type Told = Decision<CommonStatus>;

/** More rounds than a chain of answers needs; a fight is left to the queue and the circuit. */
const mostRounds = 4;

/** After so many milliseconds what was refused apart is tried again; what else there is to do does not wait for it. */
const apartAgain = 30_000;

/** Everything that one controller's passes work with. */
export interface Bench {
  definition: ControllerDefinition;
  client: Client;
  reader: Reader;
  clients: object;
  parents: ReadonlyMap<Kind, Store>;
  stores: Stores;
  subscriptions: Subscriptions;
  gatherer: Gatherer;
  circuit: Circuit;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

/** One pass. What it throws, the queue retries; what it returns says when to look again. */
export async function reconcile(key: Key, bench: Bench): Promise<{ again?: number }> {
  const text = keyText(key);
  const found = bench.parents.get(key.kind)?.get(key.namespace, key.name);
  if (!found) return forget(text, bench);
  const owner: Owner = { object: found.object, kind: key.kind, labelKind: bench.definition.kind.kind };
  if (owner.object.metadata.deletionTimestamp) return leave(owner, text, bench);
  const open = bench.circuit.openFor(text, owner.object.metadata.generation ?? 0);
  if (open) return pausedBy(open, owner, bench);
  owner.object = await withFinalizer(owner, bench);
  const result = await settle(owner, text, bench);
  if (result instanceof Error) return undecided(result, owner, bench);
  const { decision, outcome } = result;
  await told(decision.status, outcome, owner, bench);
  if (outcome.refused !== undefined) throw outcome.refused;
  const again = Math.min(decision.again ?? Infinity, outcome.apart.length > 0 ? apartAgain : Infinity);
  return again === Infinity ? {} : { again };
}

/**
 * Decides and acts until there is nothing to write. What the server answered (a default, a class) may be all that the next
 * decision waited for, the echo of our own write wakes nobody, and the status should tell of the world after our deeds.
 */
async function settle(owner: Owner, text: string, bench: Bench): Promise<{ decision: Told; outcome: Outcome } | Error> {
  for (let round = 1; ; round++) {
    const decision = decided(owner, text, bench);
    if (decision instanceof Error) return decision;
    const { outcome, writes } = await acted(decision.want, owner, text, bench);
    if (writes === 0 || outcome.refused !== undefined) return { decision, outcome };
    if (round === mostRounds) return { decision: { ...decision, again: 0 }, outcome };
  }
}

/** The loop detector has opened: the object is left alone, and says why. */
async function pausedBy({ until, why }: Open, owner: Owner, bench: Bench): Promise<{ again: number }> {
  await toldRefusal(new Refusal('WriteLoop', why), owner, bench);
  return { again: Math.max(0, until - bench.clock.monotonic()) };
}

/** No decision: everything stays as it is, and the object says why. A fault of the controller is tried again, a verdict is not. */
async function undecided(error: Error, owner: Owner, bench: Bench): Promise<{ again?: number }> {
  const reason = error instanceof Terminal ? error.reason : 'InternalError';
  await toldRefusal(new Refusal(reason, error.message), owner, bench);
  if (!(error instanceof Terminal)) throw error;
  return {};
}

const toldRefusal = (refused: Refusal, owner: Owner, bench: Bench): Promise<void> =>
  told(ownWords(owner, bench), { refused, apart: [] }, owner, bench);

/** What the object says by us, taken for what is asked now. */
function ownWords({ object: { metadata, status = {} } }: Owner, { definition }: Bench): CommonStatus {
  const conditions = (status.conditions ?? []).filter(({ type }) => conditionsOf(definition).includes(type));
  return { ...status, observedGeneration: metadata.generation ?? 0, conditions };
}

/** Gone: owner references collect the children, and nothing of it is remembered here. */
function forget(text: string, { gatherer, subscriptions, circuit }: Bench): { again?: number } {
  gatherer.forget(text);
  circuit.forget(text);
  subscriptions.set(text, new Set());
  return {};
}

/** On its way out: only what was done outside the cluster is undone; nothing is created. */
async function leave(owner: Owner, text: string, bench: Bench): Promise<{ again?: number }> {
  bench.gatherer.forget(text);
  await toldLeaving(owner, bench);
  const { cleanup } = bench.definition;
  const { finalizers = [] } = owner.object.metadata;
  if (!cleanup || !finalizers.includes(cleanup.finalizer)) return {};
  const { reader: kube, clients, signal } = bench;
  const result = await cleanup.run(owner.object, { kube, clients, signal }).catch((error: unknown) => asError(error));
  if (result instanceof Error) throw await uncleaned(result, owner, bench);
  if (result !== 'done') return result;
  await setFinalizers(
    finalizers.filter((one) => one !== cleanup.finalizer),
    owner,
    bench,
  );
  return {};
}

/** Where its kind has a word for that: what others hold, or what its children hold, may be there for long. */
async function toldLeaving(owner: Owner, bench: Bench): Promise<void> {
  const { leavingPhase: phase } = bench.definition;
  if (phase === undefined || owner.object.status?.phase === phase) return;
  await told(leavingStatus(ownWords(owner, bench), phase), { apart: [] }, owner, bench);
}

/** A cleanup that fails holds the object, perhaps for long: its status says why. Where even that fails, the log does. */
async function uncleaned(failed: Error, owner: Owner, bench: Bench): Promise<Error> {
  if (failed instanceof Stale || failed instanceof NotLeading) return failed;
  const why = new Refusal('CleanupFailed', `cannot undo what was done outside the cluster: ${failed.message}`);
  await toldRefusal(why, owner, bench).catch((error: unknown) =>
    bench.log.warn('cannot tell why the cleanup failed', { error }),
  );
  return failed;
}

/** A kind with effects outside the cluster holds its objects until these are undone; before the first effect. */
async function withFinalizer(owner: Owner, bench: Bench): Promise<Parent> {
  const { cleanup } = bench.definition;
  const { finalizers = [] } = owner.object.metadata;
  if (!cleanup || finalizers.includes(cleanup.finalizer)) return owner.object;
  return setFinalizers([...finalizers, cleanup.finalizer], owner, bench);
}

async function setFinalizers(
  finalizers: string[],
  { object, kind }: Owner,
  { client, parents }: Bench,
): Promise<Parent> {
  const { namespace = '', name, uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  try {
    const answer = await client.patch<KubeObject>(kind, { namespace, name }, body, {
      type: 'merge',
      manager: manager.finalizer,
    });
    parents.get(kind)?.wrote(answer);
    return answer;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 409 || error.status === 404))
      throw new Stale(`${kind.kind} ${name} changed meanwhile`, { cause: error });
    throw error;
  }
}

/** The decision, or why there is none. */
function decided(owner: Owner, text: string, bench: Bench): Told | Error {
  const { definition, gatherer, subscriptions, stores, clock } = bench;
  const { seen, reads, views } = observe(owner, stores);
  try {
    const facts = gatherer.facts(text, owner.object, seen);
    const decision = definition.decide({ object: owner.object, seen, facts, now: clock.now() });
    if (!Array.isArray(decision?.want) || !decision.status)
      throw new TypeError('the decision has no want or no status');
    return decision;
  } catch (error) {
    return asError(error);
  } finally {
    subscriptions.set(text, reads, views);
  }
}

async function acted(
  want: Told['want'],
  owner: Owner,
  text: string,
  bench: Bench,
): Promise<{ outcome: Outcome; writes: number }> {
  const generation = owner.object.metadata.generation ?? 0;
  let count = 0;
  const writes: ActOptions['writes'] = async (child, why, cause) => {
    count++;
    bench.circuit.wrote(text, nameOf(child), generation, why);
    if (cause === 'drift') await posted(driftOf(owner, nameOf(child), why, bench.clock.now()), bench);
  };
  const outcome = await act(want, { client: bench.client, owner, stores: bench.stores.owned, writes });
  return { outcome, writes: count };
}

/** The status is told also when a write was refused: then it says so. */
async function told(wanted: CommonStatus, { refused, apart }: Outcome, owner: Owner, bench: Bench): Promise<void> {
  const { client, definition, clock } = bench;
  const store = bench.parents.get(owner.kind);
  if (!store || (refused !== undefined && !(refused instanceof Refusal))) return;
  const { failedPhase: phase } = definition;
  const open = apart.reduce((all, { condition, refusal }) => withSetback(all, condition, refusal), wanted);
  const status = refused ? refusedStatus(open, { reason: refused.reason, message: refused.message, phase }) : open;
  const now = clock.now();
  const before = owner.object.status;
  const bad = turnedBad(before, status);
  if (bad) await posted(warningOf(owner, bad, now), bench);
  for (const { condition, refusal } of apart)
    if (isNews(before, condition, refusal)) await posted(warningOf(owner, refusal, now), bench);
  const options = { client, owner, store, conditions: conditionsOf(definition), now };
  await tell(status, options).catch((error: unknown) => toldOtherwise(error, owner, { ...options, phase }));
  logPhase(status, owner, bench);
}

/** The life of an object in the log: one line for each phase. */
function logPhase(status: CommonStatus, { object, kind }: Owner, { log }: Bench): void {
  const [from, to] = [object.status?.phase, status.phase];
  if (to === undefined || from === to) return;
  const { namespace = '', name } = object.metadata;
  const { reason } = conditionOf(status, 'Ready') ?? {};
  log.info('phase changed', { object: `${kind.kind} ${namespace}/${name}`, from, to, reason, why: status.message });
}

/** A status that the server does not take is told as that: the summary alone always fits. */
async function toldOtherwise(
  error: unknown,
  owner: Owner,
  { phase, ...options }: TellOptions & { phase: string | undefined },
): Promise<never> {
  if (error instanceof ApiError && error.status === 404) throw new Stale('the object is gone', { cause: error });
  const verdict = judged(error, owner.object);
  if (!(verdict instanceof Refusal)) throw verdict;
  const { generation: observedGeneration = 0 } = owner.object.metadata;
  const refused = { reason: 'StatusRefused', message: verdict.message, phase };
  await tell(refusedStatus({ observedGeneration }, refused), options);
  throw verdict;
}

/** An Event is a courtesy: work does not fail for want of it. */
const posted = (event: KubeEvent, { client, log }: Bench): Promise<void> =>
  post(client, event).catch((error: unknown) => log.warn('cannot post an Event', { error }));

/** Conditions that are ours to tell; others on the same object belong to somebody else. */
const conditionsOf = ({ conditions = [] }: ControllerDefinition): string[] => [
  'Ready',
  'Reconciling',
  'Stalled',
  ...conditions,
];
