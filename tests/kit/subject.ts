// What the fault tests must know of a kind to put it through every crash, old picture and outage. A kind joins them by one
// such description; lanes, plans, waits and comparisons are the same for all kinds.

import type { Call, CallFilter } from '../../controlplane/faults/index.ts';
import type { Parent } from '../../src/kube/define.ts';
import type { Kind, KubeObject } from '../../src/objects/index.ts';
import type { Installed } from './rig.ts';

/** One state of one object; `at` is when we heard of it, on the clock of the trace. */
export interface Revision {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: KubeObject;
  at: number;
}

/** What existed at a moment, by kind and name. */
export interface World {
  get<T extends KubeObject>(kind: Kind<T>, name: string): T | undefined;
  all<T extends KubeObject>(kind: Kind<T>): T[];
}

export interface Subject<P extends Parent = Parent> {
  kind: Kind<P>;
  installed: Installed;
  /** The kinds of its children whose objects are compared. */
  children: readonly Kind[];
  /** Its life: each spec is asked for when the one before is Ready and settled. */
  life: readonly object[];
  /** Whether nothing is left over from what was asked before. */
  isSettled(now: World): boolean;
  /** What is missing of what a Ready object of this generation promises. */
  lackOf(object: P, now: World): string[];
  /** What must never be, whoever looks: judged at every state of every object, with the world of that moment. */
  wrongs(revision: Revision, now: World): string[];
  /** What must never be sent, whatever came of it: judged over all writes of a life. */
  misdeeds(writes: readonly Call[]): string[];
  /** Fields that differ from run to run by their nature. */
  fleeting: readonly string[];
  /** Words that do. */
  chance(object: KubeObject): string[];
  /** What a life undoes outside the cluster. */
  undone: readonly string[];
}

/** A write as it can be found again in another life: the name of an Event holds a UID. */
export const sortOf = ({ verb, resource, subresource, name, fieldManager }: Call): CallFilter =>
  resource === 'events'
    ? { verb, resource }
    : { verb, resource, subresource, name, ...(fieldManager && { fieldManager }) };
