// Tells a person how things stand: at most one write a pass, and none when nothing changed. Transition times move only
// with the status of their condition; nothing else in a status comes from the clock.

import { canonical } from '../base/index.ts';
import { type CommonStatus, type Condition, conditionOf, manager } from '../objects/index.ts';
import type { Store } from './cache.ts';
import type { Owner } from './child.ts';
import type { Client } from './client/index.ts';

/** Longer messages are cut: a status that cannot be written helps nobody. */
const longest = 1_000;
/** Leaves room for what works nevertheless. */
const longestRefusal = 800;

export interface TellOptions {
  client: Client;
  owner: Owner;
  store: Store;
  /** Condition types that are ours; others in the list belong to somebody else and are left alone. */
  conditions: readonly string[];
  now: number;
}

/** Writes the status if it says anything new. */
export async function tell(
  status: CommonStatus,
  { client, owner, store, conditions, now }: TellOptions,
): Promise<void> {
  const { object, kind } = owner;
  const next = settled(status, object.status, now);
  if (sameStatus(next, object.status, conditions)) return;
  const { name, namespace = '', uid = '', resourceVersion = '' } = object.metadata;
  const body = {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name, namespace, uid, resourceVersion },
    status: next,
  };
  store.wrote(await client.apply(kind, body, { manager: manager.status, subresource: 'status' }));
}

/** The status with its transition times: kept where the condition stands as before, never going back. */
export function settled(status: CommonStatus, former: CommonStatus | undefined, now: number): CommonStatus {
  const { conditions = [], message, ...rest } = status;
  const timed = conditions.map((condition) => ({
    ...condition,
    message: clipped(condition.message),
    lastTransitionTime: transition(condition, conditionOf(former, condition.type), now),
  }));
  return { ...rest, ...(message !== undefined && { message: clipped(message) }), conditions: timed };
}

function transition(condition: Condition, former: Condition | undefined, now: number): string {
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const before = former?.lastTransitionTime;
  if (before === undefined) return time;
  return former?.status === condition.status || before > time ? before : time;
}

/** Whether a status says nothing that is not held already, as far as it is ours to say. */
export function sameStatus(next: CommonStatus, held: CommonStatus | undefined, ours: readonly string[]): boolean {
  if (!held) return false;
  const listed = (status: CommonStatus) =>
    (status.conditions ?? []).filter(({ type }) => ours.includes(type)).toSorted((a, b) => (a.type < b.type ? -1 : 1));
  return canonical({ ...next, conditions: listed(next) }) === canonical({ ...held, conditions: listed(held) });
}

/** What was refused, and the phase of a kind that has phases. */
export interface Refused {
  reason: string;
  message: string;
  phase?: string | undefined;
}

/** Verdicts of a pass that ended in a refusal: nothing goes on until somebody changes something. */
const stalled: readonly [type: string, status: Condition['status']][] = [
  ['Ready', 'False'],
  ['Reconciling', 'False'],
  ['Stalled', 'True'],
];

/** The same status for a pass that ended in a refusal. What works nevertheless is said with it. */
export function refusedStatus(status: CommonStatus, { reason, message: why, phase }: Refused): CommonStatus {
  const { observedGeneration, conditions = [] } = status;
  const message = `${clipped(why, longestRefusal)}${stillThere(status)}`;
  const generation = observedGeneration === undefined ? {} : { observedGeneration };
  const judged = stalled.map(([type, value]) => ({ type, status: value, reason, message, ...generation }));
  const summary = conditionOf(status, 'Ready')?.message ?? status.message;
  // A stage that only repeats where the object is would go on telling of work that has ended.
  const others = conditions
    .filter(({ type }) => !stalled.some(([verdict]) => verdict === type))
    .map((one) => (one.status === 'False' && one.message === summary ? { ...one, reason, message } : one));
  return { ...status, ...(phase !== undefined && { phase }), message, conditions: [...judged, ...others] };
}

/** The same status for an object that somebody holds while it is being deleted. */
export function leavingStatus(status: CommonStatus, phase: string): CommonStatus {
  const { observedGeneration, conditions = [] } = status;
  const told = {
    status: 'False' as const,
    reason: phase,
    message: 'Is being deleted',
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
  const judged = conditions.map((one) => (one.type === 'Ready' ? { ...one, ...told } : one));
  return { ...status, phase, message: told.message, conditions: judged };
}

/** The same status where something apart from Ready was refused: its own condition says so, with what holds nevertheless. */
export function withSetback(status: CommonStatus, condition: string, { reason, message: why }: Refused): CommonStatus {
  const { observedGeneration, conditions = [] } = status;
  const held = conditionOf(status, condition);
  const still = held?.status === 'True' ? `; ${held.message}` : '';
  const message = `${clipped(why, longestRefusal)}${still}`;
  const generation = observedGeneration === undefined ? {} : { observedGeneration };
  const told = { type: condition, status: 'False' as const, reason, message, ...generation };
  return { ...status, conditions: held ? conditions.map((one) => (one === held ? told : one)) : [...conditions, told] };
}

function stillThere(status: CommonStatus): string {
  const available = conditionOf(status, 'Available');
  return available?.status === 'True' && available.message ? `; ${available.message}` : '';
}

/** Well-formed, because the server mends a half character, and what it mended would never equal what we say. */
const clipped = (message: string, most = longest): string =>
  (message.length <= most ? message : `${message.slice(0, most - 1)}…`).toWellFormed();
