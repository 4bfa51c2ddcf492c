// A whole life on a lane, as the description of its kind tells it, and what came of it: the same for every kind, so that a
// life under faults can be compared with one without.

import { deepEqual } from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Call } from '../../controlplane/faults/index.ts';
import { eventually } from './eventually.ts';
import { ask, atRest, becomesReady, type Lane, name, writesDuring, writesSince } from './lane.ts';
import { births, brokenPromises, isTidy, stateOf } from './oracle.ts';
import type { Rig } from './rig.ts';
import type { Subject } from './subject.ts';

/** Whose lives are told, where, and as tests of what. */
export interface Scene {
  rig: Rig;
  subject: Subject;
  t: TestContext;
}

/** What came of a life, as far as it can be compared with another one. */
export interface Outcome {
  state: Record<string, unknown>;
  births: ReturnType<typeof births>;
  /** Promises that were not kept on the way. */
  broken: string[];
  /** What was undone outside the cluster; more than once is no harm, never is. */
  undone: string[];
  /** Writes of the operator that the API server took. */
  writes: Call[];
  /** Writes after everything had come to rest, and after the object was gone. */
  late: string[];
}

/** Compares a life with one that had no fault. */
export function sameAs(reference: Outcome, outcome: Outcome, subject: Subject): void {
  const { undone } = subject;
  deepEqual(compared(outcome), { ...compared(reference), undone, broken: [], late: [] });
}

const compared = ({ state, births: lived, undone, broken, late }: Outcome) => ({ state, lived, undone, broken, late });

/** What befalls an edit: it must let the edit happen, and may do something before and after it. */
export type Around = (edit: () => Promise<void>, step: number) => Promise<void>;

/** Lives from the first spec to the last and is deleted; looked at when it has come to rest, and again when it is gone. */
export async function live(lane: Lane, around: Around = (edit) => edit()): Promise<Outcome> {
  const { rig, namespace, proxy, truth, subject } = lane;
  for (const [step, spec] of subject.life.entries()) {
    await around(async () => void (await ask(lane, spec)), step);
    await settles(lane);
  }
  await atRest(lane);
  const state = stateOf(truth.objects(), subject);
  const lived = births(truth.history());
  const late = await writesDuring(lane, 1_000);
  await rig.admin.delete(subject.kind, { namespace, name });
  // Its children are the garbage collector's, which may take half a minute to learn of a new kind.
  await eventually(() => truth.get(subject.kind, name) === undefined, { what: 'it goes' });
  const left = proxy.trace.mark();
  await atRest(lane);
  late.push(...writesSince(lane, left));
  const broken = brokenPromises(truth.history(), proxy.trace.writes(), subject);
  const writes = proxy.trace.writes().filter(({ answer }) => answer !== undefined && answer.status < 300);
  return { state, births: lived, broken, undone: undoneIn(lane), writes, late };
}

/** Waits until it is Ready and nothing is left over from what was asked before. */
export async function settles(lane: Lane): Promise<void> {
  const { truth, subject } = lane;
  await becomesReady(lane, name);
  await eventually(() => subject.isSettled(truth) && isTidy(truth.objects()), {
    within: 60_000,
    every: 20,
    what: 'what was asked before goes',
  });
}

function undoneIn({ outside }: Lane): string[] {
  const file = join(outside, 'forgotten');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return [...new Set(lines.filter((line) => line !== ''))];
}
