// The engine's part in the small cluster: it carries out what a decision wants, in the order that it names, and deletes
// what is not wanted any more. A pass may be cut off after any write, as by a crash.

import { isDeepStrictEqual } from 'node:util';
import type { Desired } from '../../../src/kube/define.ts';
import type { KubeObject } from '../../../src/objects/index.ts';
import type { Store } from './store.ts';

/** One write of the operator: the object as it was, and as it is now; one of them is missing for a new or a deleted one. */
export interface Write {
  before: KubeObject | undefined;
  after: KubeObject | undefined;
}

/** Thrown in the middle of a pass. */
export class Crash extends Error {}

/** Carries out a decision. `children` are the objects that the operator may delete; every write is told before the next. */
export function act(store: Store, want: readonly Desired[], wrote: (write: Write) => void): number {
  const { version } = store;
  let writes = 0;
  const tell = (before: KubeObject | undefined, after: KubeObject | undefined) => {
    writes++;
    wrote({ before, after });
  };
  for (const desired of want) one(store, desired, tell);
  prune(store, want, tell);
  if (writes === 0 && store.version !== version) throw new TypeError('something was written without a word');
  return writes;
}

type Tell = (before: KubeObject | undefined, after: KubeObject | undefined) => void;

function one(store: Store, desired: Desired, tell: Tell): void {
  const child = childIn(desired);
  const held = named(store, child);
  if (held?.metadata.deletionTimestamp) return;
  if ('create' in desired && !held) tell(undefined, store.create(child));
  if ('apply' in desired && store.apply(child)) tell(held, named(store, child));
  if ('note' in desired) noted(store, desired, tell);
}

function noted(store: Store, { note, annotations }: Extract<Desired, { note: KubeObject }>, tell: Tell): void {
  const held = named(store, note);
  if (!held) throw new TypeError('the object to note something on is not there');
  const merged = { ...held.metadata.annotations, ...annotations };
  if (isDeepStrictEqual(merged, held.metadata.annotations)) return;
  store.put({ ...held, metadata: { ...held.metadata, annotations: merged } });
  tell(held, named(store, note));
}

function prune(store: Store, want: readonly Desired[], tell: Tell): void {
  const wanted = new Set(want.map((desired) => nameOf(childIn(desired))));
  const unwanted = store
    .everything()
    .filter((object) => object.kind !== 'Pod' && !wanted.has(nameOf(object)) && !object.metadata.deletionTimestamp);
  for (const object of unwanted) {
    store.delete(object);
    tell(object, undefined);
  }
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

const named = (store: Store, child: KubeObject): KubeObject | undefined =>
  store.get({ apiVersion: child.apiVersion, kind: child.kind, plural: '', namespaced: true }, child.metadata.name);

/** The child that a wish is about. */
export function childIn(desired: Desired): KubeObject {
  if ('create' in desired) return desired.create;
  if ('apply' in desired) return desired.apply;
  return 'keep' in desired ? desired.keep : desired.note;
}
