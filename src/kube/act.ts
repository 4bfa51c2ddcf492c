// The only place that writes children: creates what is missing, applies what differs, notes what should be remembered,
// and, after everything else went well, deletes what is owned and not wanted. In the order that the controller named.

import { annotation, conditionOf, type KubeObject, manager, sameKind } from '../objects/index.ts';
import type { Store } from './cache.ts';
import { dress, isMarked, isOurs, isRetained, nameOf, type Owner } from './child.ts';
import { ApiError, type Client } from './client/index.ts';
import { difference } from './compare.ts';
import type { Desired } from './define.ts';
import type { Entry } from './parse.ts';
import { judged, ownershipConflict, Refusal, Stale } from './refusal.ts';
import { putBack, takeOver } from './takeover.ts';
import { checkWishes, childIn, joinNotes } from './wishes.ts';

export interface ActOptions {
  client: Client;
  owner: Owner;
  /** Kinds that the definition owns, each with what is known of it. */
  stores: readonly Store[];
  /** Told before every write, for the loop detector and for people; `why` names the field that differed. */
  writes: (child: KubeObject, why: string, cause: WriteCause) => void | Promise<void>;
}

/** Why something is written: it is asked for, or somebody else undid what was asked for. */
export type WriteCause = 'asked' | 'drift';

/** What became of a pass: `refused` ended it early, what was refused `apart` did not. */
export interface Outcome {
  refused?: unknown;
  apart: readonly Setback[];
}

/** A refusal that only one condition tells of. */
export interface Setback {
  condition: string;
  child: KubeObject;
  refusal: Refusal;
}

/** Brings the children to what is wanted. Errors are handed back, so that the status can still be told. */
export async function act(want: readonly Desired[], options: ActOptions): Promise<Outcome> {
  const apart: Setback[] = [];
  try {
    checkWishes(want, options.owner);
    for (const desired of joinNotes(want)) apart.push(...(await tried(desired, options)));
    await prune(want, apart, options);
    return { apart };
  } catch (refused) {
    return { refused, apart };
  }
}

/** What is apart is told once it is done: a refused attempt, repeated with every pass, is neither a write nor a fight. */
async function tried(desired: Desired, options: ActOptions): Promise<Setback[]> {
  const { apart: condition } = desired;
  if (condition === undefined) return one(desired, options).then(() => []);
  const done: Parameters<ActOptions['writes']>[] = [];
  try {
    await one(desired, { ...options, writes: (...write) => void done.push(write) });
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return [{ condition, child: childIn(desired), refusal }];
  }
  for (const write of done) await options.writes(...write);
  return [];
}

async function one(desired: Desired, options: ActOptions): Promise<void> {
  const child = childIn(desired);
  const store = storeOf(child, options);
  const held = store.get(options.owner.object.metadata.namespace ?? '', child.metadata.name);
  if (held?.object.metadata.deletionTimestamp) return; // watched leaving; its going wakes us
  try {
    const missing = () => post(dress(child, options.owner), missingBy(desired, options), store, options);
    if (!held && ('create' in desired || 'apply' in desired)) await missing();
    if ('create' in desired && held) await marked(child, held, store, options);
    if ('apply' in desired && held) await applied(child, held, store, options);
    if ('keep' in desired && held) await marked(child, held, store, options);
    if ('note' in desired) await noted(desired, held, store, options);
  } catch (error) {
    throw judged(error, child);
  }
}

/** Of a child that is left alone only the marks are ours to write. */
async function marked(child: KubeObject, { object }: Entry, store: Store, options: ActOptions): Promise<void> {
  const { client, owner, writes } = options;
  if (!isOurs(object, child, owner)) throw ownershipConflict(object);
  if (isMarked(object, child, owner)) return;
  if (isRetained(object) === isRetained(child)) await writes(child, 'it lost its labels or its owner', 'drift');
  else await writes(child, isRetained(child) ? 'it is to stay' : 'it is not to stay any more', 'asked');
  store.wrote(await putBack(client, store.kind, object, child, owner));
}

async function applied(child: KubeObject, held: Entry, store: Store, options: ActOptions): Promise<void> {
  const wanted = dress(child, options.owner);
  if (!isOurs(held.object, wanted, options.owner)) throw ownershipConflict(held.object);
  const change = changeNeeded(wanted, held.object);
  if (!change) return;
  await options.writes(wanted, change.why, change.cause);
  const current = held.hand === 'posted' ? await takeOver(options.client, store.kind, held.object) : held.object;
  const { uid = '', resourceVersion = '' } = current.metadata;
  const body = { ...wanted, metadata: { ...wanted.metadata, uid, resourceVersion } };
  store.wrote(await options.client.apply(store.kind, body, { manager: manager.children }));
}

/** Why a request is needed, or undefined: another hash, or a wanted field that is not there. */
function changeNeeded(wanted: KubeObject, held: KubeObject): { why: string; cause: WriteCause } | undefined {
  const hash = (object: KubeObject) => object.metadata.annotations?.[annotation.desired];
  if (hash(wanted) !== hash(held)) return { why: 'what is wanted changed', cause: 'asked' };
  const why = difference(wanted, held);
  return why === undefined ? undefined : { why, cause: 'drift' };
}

/**
 * Why a child is missing. Where its condition holds for what is asked it was there, so somebody took it away; unless what
 * it replaces is there still, which held that condition in its stead.
 */
export function missingBy(desired: Desired, options: Pick<ActOptions, 'owner' | 'stores'>): WriteCause {
  const { metadata, status } = options.owner.object;
  const held = conditionOf(status, desired.apart ?? 'Ready');
  const wasThere = held?.status === 'True' && held.observedGeneration === metadata.generation;
  const { name } = childIn(desired).metadata;
  const replaces =
    desired.apart !== undefined && childrenOf(options).some(({ object }) => object.metadata.name === name);
  return wasThere && !replaces ? 'drift' : 'asked';
}

/** Creates the child. One that was there may have gone with its parent, whose own news may come later: that is asked first. */
async function post(wanted: KubeObject, cause: WriteCause, store: Store, options: ActOptions): Promise<void> {
  if (cause === 'drift') await confirmParent(options);
  await options.writes(wanted, 'it was missing', cause);
  try {
    store.wrote(await options.client.create(store.kind, wanted, { manager: manager.children }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    await reclaim(wanted, store, options);
  }
}

/**
 * The name is taken though the cache does not know by whom: ask the server itself. What is ours may have gone on without
 * us, so the pass that decided without it ends; the next one sees it, and gives it back whatever it has lost.
 */
async function reclaim(wanted: KubeObject, store: Store, { client, owner }: ActOptions): Promise<never> {
  const { namespace = '', name } = wanted.metadata;
  const live = await client.get(store.kind, { namespace, name });
  if (!isOurs(live, wanted, owner)) throw ownershipConflict(live);
  if (live.metadata.deletionTimestamp) throw new Stale(`${nameOf(live)} is still being deleted`);
  store.found(live);
  throw new Stale(`${nameOf(live)} was there already`);
}

async function noted(
  { note: child, annotations }: Extract<Desired, { note: KubeObject }>,
  held: Entry | undefined,
  store: Store,
  options: ActOptions,
): Promise<void> {
  if (!held) throw new Stale('the object to note something on is not there yet');
  if (!isOurs(held.object, child, options.owner)) throw ownershipConflict(held.object);
  const { metadata, apiVersion, kind } = held.object;
  if (Object.entries(annotations).every(([key, value]) => metadata.annotations?.[key] === value)) return;
  await options.writes(held.object, 'a note', 'asked');
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  const body = { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, annotations } };
  store.wrote(await options.client.apply(store.kind, body, { manager: manager.evidence }));
}

/**
 * Deletes own children that nobody wants, each only as it was seen, and only for a parent that still asks so. What stands
 * under the name of a refused one, in another kind, stays until it can be replaced.
 */
async function prune(want: readonly Desired[], apart: readonly Setback[], options: ActOptions): Promise<void> {
  const wanted = new Set(want.map((desired) => nameOf(childIn(desired))));
  const refused = new Set(apart.map(({ child }) => child.metadata.name));
  const unwanted = childrenOf(options).filter(
    ({ object }) =>
      !wanted.has(nameOf(object)) && !refused.has(object.metadata.name) && !object.metadata.deletionTimestamp,
  );
  if (unwanted.length === 0) return;
  await confirmParent(options);
  for (const { store, object } of unwanted) await remove(object, store, options);
}

function childrenOf({ owner, stores }: Pick<ActOptions, 'owner' | 'stores'>): { store: Store; object: KubeObject }[] {
  const { namespace = '', uid = '' } = owner.object.metadata;
  return stores.flatMap((store) => store.ownedBy(namespace, uid).map(({ object }) => ({ store, object })));
}

/** A live look at the parent: what we saw of it may be old, and what is made or deleted for one that has gone is wrong. */
async function confirmParent({ client, owner: { object, kind } }: ActOptions): Promise<void> {
  const { namespace = '', name, uid, generation } = object.metadata;
  const { metadata: live } = await client.get(kind, { namespace, name }).catch((error: unknown) => {
    throw judged(error, object);
  });
  const same = live.uid === uid && live.generation === generation && !live.deletionTimestamp;
  if (!same) throw new Stale(`${kind.kind} ${name} changed meanwhile`);
}

async function remove(object: KubeObject, store: Store, { client, writes }: ActOptions): Promise<void> {
  const { namespace = '', name, uid = '', resourceVersion = '' } = object.metadata;
  await writes(object, 'it is not wanted', 'asked');
  try {
    const leaving = await client.delete(
      store.kind,
      { namespace, name },
      { uid, resourceVersion, propagation: 'Background' },
    );
    // Some kinds answer with the object as it was: only a deletion time says that it is still there.
    if (leaving?.metadata.deletionTimestamp) store.wrote(leaving);
    else store.deleted(object);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw judged(error, object);
    store.deleted(object);
  }
}

function storeOf(child: KubeObject, { stores, owner }: ActOptions): Store {
  const store = stores.find(({ kind }) => sameKind(kind, child));
  if (store) return store;
  throw new Refusal(
    'InternalError',
    `${owner.labelKind} wants ${nameOf(child)}, but its definition does not own ${child.apiVersion} ${child.kind}`,
  );
}
