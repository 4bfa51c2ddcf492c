// When an object has come to rest: its generation was looked at, nothing is on its way out, no program is at work, and nothing
// has happened for a while. A fixed time would be too long for most steps and too short for some.

import { setTimeout as pause } from 'node:timers/promises';
import type { Parent } from '../../src/kube/define.ts';
import { conditionOf, DaemonSet, isOfKind, type KubeObject, Pod } from '../../src/objects/index.ts';
import { isTidy, saysReady } from '../kit/oracle.ts';
import type { Ground } from './ground.ts';
import type { Key } from './witness.ts';

/** Milliseconds in which nothing happens. What waits may ask the world again every two seconds; one of several servers may come late. */
const quiet = { ready: 600, waiting: 3_500, scaling: 12_000 };

/** The object once it is at rest; `restless`: it never was. */
export interface Rested {
  parent: Parent;
  restless: string | undefined;
}

/**
 * Waits for rest after an edit. One of annotations makes no new generation, so the operator must have been given its
 * version, and has as long as whoever waits to make something of it: nothing tells when it has looked.
 */
export async function atRest(
  ground: Ground,
  key: Key,
  { metadata }: KubeObject,
  former: KubeObject | undefined,
): Promise<Rested> {
  const { witness, ledger, table, operator, patience } = ground;
  const end = performance.now() + patience;
  const isGeneration = former?.metadata.generation !== metadata.generation;
  let why = 'it was never seen';
  for (;;) {
    const parent = witness.world(key.namespace).get(table.kind, key.name);
    const still = performance.now() - witness.lastAt(key);
    if (parent) {
      const given = ledger.seen(key); // none where it was listed by an operator that started later
      const isGiven = given === 0 ? parent.status !== undefined : given >= Number(metadata.resourceVersion);
      const isLookedAt = isGiven && (table.isTold?.(parent) ?? true);
      why = isLookedAt ? (unrest(parent, witness.objects(key), metadata) ?? '') : 'the operator has not looked at it';
      const enough = Math.max(quiet[paceOf(parent)], isGeneration ? 0 : quiet.waiting);
      if (why === '' && still >= enough) return { parent, restless: undefined };
      if (!operator.alive()) return { parent, restless: 'the operator has ended' };
      if (performance.now() > end) return { parent, restless: why || 'something happens again and again' };
    } else if (performance.now() > end) throw new Error(`${key.namespace}/${key.name}: ${why}`);
    await pause(40);
  }
}

/** What is still under way. */
function unrest(parent: Parent, objects: readonly KubeObject[], asked: KubeObject['metadata']): string | undefined {
  const { metadata, status } = parent;
  if (Number(metadata.resourceVersion) < Number(asked.resourceVersion)) return 'the edit has not been told';
  if (status?.observedGeneration !== metadata.generation) return 'the operator has not looked at the edit';
  if (!isSettled(parent)) return 'it is on its way, and says so';
  if (!isTidy(objects)) return 'something is on its way out';
  const behind = objects.find((one) => isBehind(one) || (paceOf(parent) === 'ready' && isRolling(one)));
  if (behind) return `${behind.kind} ${behind.metadata.name} has not been observed`;
  const working = objects.find((one) => isOfKind(one, Pod) && isWorking(one));
  return working && `Pod ${working.metadata.name} is at work`;
}

/** Ready, stalled, or held up by something that it names: a bare phase says that it goes on. */
export function isSettled(parent: Parent): boolean {
  const reason = conditionOf(parent.status, 'Ready')?.reason;
  const stalled = conditionOf(parent.status, 'Stalled')?.status === 'True';
  return saysReady(parent) || stalled || (reason !== undefined && reason !== parent.status?.phase);
}

function paceOf(parent: Parent): keyof typeof quiet {
  if (!saysReady(parent)) return 'waiting';
  return conditionOf(parent.status, 'Reconciling')?.status === 'True' ? 'scaling' : 'ready';
}

const isBehind = (object: KubeObject): boolean => {
  const { observedGeneration } = (object as Parent).status ?? {};
  return observedGeneration !== undefined && observedGeneration < (object.metadata.generation ?? 0);
};

/** Whether a DaemonSet has not told yet that all of its pods are there, new and ready. */
const isRolling = (object: KubeObject): boolean => {
  if (!isOfKind(object, DaemonSet)) return false;
  const { status = {} } = object;
  const counts = [
    status.currentNumberScheduled,
    status.updatedNumberScheduled,
    status.numberReady,
    status.numberAvailable,
  ];
  return counts.some((count = 0) => count !== status.desiredNumberScheduled);
};

/** A program that runs to an end. */
const isWorking = ({ spec, status }: Pod): boolean => spec['restartPolicy'] === 'Never' && status?.phase === 'Running';
