// One object in a campaign: asked for something, waited for, looked at by every oracle. The same for a walk of many steps and
// for a fresh start that it is compared with.

import { setTimeout as pause } from 'node:timers/promises';
import { canonical } from '../../src/base/index.ts';
import type { Parent } from '../../src/kube/define.ts';
import { ApiError } from '../../src/kube/index.ts';
import type { KubeObject } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { saysReady } from '../kit/oracle.ts';
import type { Ground } from './ground.ts';
import type { Document, Mask } from './meaning.ts';
import { type Alarm, alarmOf, hidden, lies, silence } from './oracles.ts';
import type { Property } from './property.ts';
import { atRest } from './rest.ts';
import { type State, stateOf } from './state.ts';
import type { Key } from './witness.ts';

/** Where an object stands after it was asked for something. */
export interface Standing {
  document: Document;
  parent: Parent;
  ready: boolean;
  state: State;
  /** Masks that hold because the object says so. */
  masks: Mask[];
  alarms: Alarm[];
}

/** The document was refused by the API server, which said why. */
export interface Refused {
  refused: { field: string; message: string }[];
}

/** Asks for a document, waits for rest, and looks. */
export async function ask(
  ground: Ground,
  key: Key,
  {
    document,
    before,
    properties,
  }: { document: Document; before: Standing | undefined; properties: readonly Property[] },
): Promise<Standing | Refused> {
  const { witness, table } = ground;
  const past = witness.objects(key);
  witness.forget(key);
  const asked = await applied(ground, key, document);
  if ('refused' in asked) return asked;
  const { parent, restless } = await atRest(ground, key, asked, before?.parent);
  const now = witness.world(key.namespace);
  const objects = witness.objects(key);
  const history = witness.history(key);
  const seen = [...history.map(({ object }) => object), ...objects];
  const shown = hidden(
    { before: before?.parent, trail: { parent, now, seen: asTold(seen, objects) } },
    properties,
    table,
  );
  return {
    document,
    parent,
    ready: saysReady(parent),
    state: stateOf(objects, key, { table, now, passers: seen }),
    masks: table.masks.filter(({ when }) => when?.(parent) ?? true),
    alarms: [
      ...alarmOf('operator', ground.operator.alive() ? [] : ['the operator has ended']),
      ...alarmOf('rest', restless === undefined ? [] : [restless]),
      ...alarmOf('honesty', [...lies(past, history, table), ...silence(parent, table, now)]),
      ...alarmOf('consistency', shown),
    ],
  };
}

/** The same once more, without asking for anything. */
export function standingNow({ witness, table }: Ground, key: Key): Pick<Standing, 'state' | 'ready'> {
  const now = witness.world(key.namespace);
  const parent = now.get(table.kind, key.name);
  const passers = witness.history(key).map(({ object }) => object);
  const state = stateOf(witness.objects(key), key, { table, now, passers });
  return { state, ready: parent !== undefined && saysReady(parent) };
}

/** Asks for something that nobody waits for. */
export async function hurried(ground: Ground, key: Key, document: Document): Promise<void> {
  const asked = await applied(ground, key, document);
  if (!('refused' in asked)) await pause(Math.random() * 400);
}

/** All that came up; of what still exists only as it is now. */
function asTold(seen: readonly KubeObject[], objects: readonly KubeObject[]): KubeObject[] {
  const alive = new Set(objects.map(({ metadata }) => metadata.uid));
  return [...seen.filter(({ metadata }) => !alive.has(metadata.uid)), ...objects];
}

/** A person who replaces the whole object, so that what is left out is really gone: an apply would leave empty lists behind. */
async function applied(ground: Ground, key: Key, document: Document): Promise<KubeObject | Refused> {
  for (;;) {
    try {
      return await replaced(ground, key, document);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) throw error;
      if (error.reason === 'Conflict') continue; // a status was written in between
      const causes = error.causes.map(({ field = '', message = '' }) => ({ field, message }));
      return { refused: causes.length > 0 ? causes : [{ field: '', message: error.message }] };
    }
  }
}

async function replaced({ rig, table }: Ground, key: Key, { annotations, spec }: Document): Promise<KubeObject> {
  const { kind } = table;
  const held = await rig.get(kind, key.namespace, key.name);
  const { labels, resourceVersion } = held?.metadata ?? {};
  const kept = { ...(labels && { labels }), ...(resourceVersion !== undefined && { resourceVersion }) };
  const metadata = { ...key, ...kept, ...(annotations && { annotations }) };
  const object = { apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec };
  const by = { manager: 'user' };
  return held ? rig.admin.update(kind, object, by) : rig.admin.create(kind, object, by);
}

/** Writes that come though nothing was asked: the same document again, and a label that means nothing. */
export async function stirred(ground: Ground, key: Key, document: Document): Promise<string[]> {
  const { ledger, rig, table } = ground;
  const again = async (watched: number) => {
    const since = performance.now();
    await applied(ground, key, document);
    const { metadata } = await rig.admin.apply(
      table.kind,
      {
        apiVersion: table.kind.apiVersion,
        kind: table.kind.kind,
        metadata: { ...key, labels: { touched: `at-${Math.round(since)}` } },
      },
      { manager: 'toucher' },
    );
    await eventually(() => ledger.seen(key) >= Number(metadata.resourceVersion), {
      within: 20_000,
      what: 'the touch is seen',
    });
    await pause(watched);
    return ledger.writesSince(key, since);
  };
  if ((await again(500)).length === 0) return [];
  // It was perhaps not at rest yet; what writes once more writes for ever.
  await pause(3_000);
  return (await again(1_500)).map((write) => `nothing changed, and yet: ${write}`);
}

/** Deletes an object and waits until everything of it is gone that should go. */
export async function removed(ground: Ground, key: Key): Promise<Alarm[]> {
  const { rig, table, witness } = ground;
  const parent = witness.world(key.namespace).get(table.kind, key.name);
  if (!parent) return [];
  const stays = witness.objects(key).filter((child) => table.outlives(child, parent));
  await rig.admin.delete(table.kind, key, { propagation: 'Background' });
  const names = new Set(stays.map(({ metadata }) => metadata.uid));
  const left = () => witness.objects(key).filter(({ metadata }) => !names.has(metadata.uid));
  const end = performance.now() + ground.patience;
  while (left().length > 0 && performance.now() < end) await pause(100);
  const orphans = left().map(({ kind, metadata }) => `${kind} ${metadata.name} outlived its parent`);
  const kept = witness.objects(key).map(({ metadata }) => metadata.uid);
  const lost = stays
    .filter(({ metadata }) => !kept.includes(metadata.uid))
    .map(({ metadata }) => `${metadata.name} was to stay`);
  await Promise.all(stays.map((child) => discard(ground, child)));
  return alarmOf('deletion', [...orphans, ...lost]);
}

const discard = async (
  { rig, table }: Ground,
  { kind, metadata: { namespace = '', name } }: KubeObject,
): Promise<void> => {
  const known = table.children.find((one) => one.kind === kind);
  if (known) await rig.admin.delete(known, { namespace, name }).catch(() => undefined);
};

/** Two documents that ask for the same. */
export const nameOf = (document: Document): string => canonical(JSON.parse(JSON.stringify(document)));
