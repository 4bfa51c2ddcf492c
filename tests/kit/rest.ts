// What an object at rest costs, whatever it has come to: nothing but the lease. The same for all kinds; a kind tells the
// states that it can come to rest in.

import { deepEqual, ok } from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Parent } from '../../src/kube/define.ts';
import { conditionOf } from '../../src/objects/index.ts';
import { eventually } from './eventually.ts';
import { ask, atRest, type Lane, wordsOf } from './lane.ts';

/** What is asked for, and the reason of Ready by which it is known that it has come to rest. */
export interface Resting {
  spec: object;
  reason: string;
}

/** Asks for one object in each state, and waits until all have come to it. */
export async function bringTo<P extends Parent>(
  lane: Lane<P>,
  states: Readonly<Record<string, Resting>>,
): Promise<void> {
  const { truth, subject } = lane;
  await Promise.all(Object.entries(states).map(([name, { spec }]) => ask(lane, spec, name)));
  for (const [name, { reason }] of Object.entries(states))
    await eventually(() => conditionOf(truth.get(subject.kind, name)?.status, 'Ready')?.reason === reason, {
      within: 90_000,
      what: `${name} is ${reason}`,
    });
}

/** Holds that for a minute no request is made but for the lease, and no watch is opened anew. */
export async function costsNothing<P extends Parent>(lane: Lane<P>, t: TestContext): Promise<void> {
  const { proxy } = lane;
  const { trace } = proxy;
  await atRest(lane, 3_000);
  const mark = trace.mark();
  await pause(60_000);
  const { calls } = trace.since(mark);
  const leases = calls.filter(({ resource }) => resource === 'leases');
  t.diagnostic(`${leases.length} requests for the lease, ${proxy.watches()} watches`);
  deepEqual(calls.filter((call) => !leases.includes(call)).map(wordsOf), []);
  ok(leases.every(({ verb }) => verb === 'update') && leases.length <= 31, `${leases.length} renewals`);
}
