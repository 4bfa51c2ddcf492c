// What exists of a parent, as a flat list of fields that can be compared between two lives: names, namespaces and UIDs become
// words, counts of generations become claims, and what differs by its nature is masked, field by field.

import { canonical } from '../../src/base/index.ts';
import type { Parent } from '../../src/kube/define.ts';
import { annotation, isOfKind, type KubeObject, Pod, sameQuantity } from '../../src/objects/index.ts';
import type { World } from '../kit/subject.ts';
import type { Mask, Meanings } from './meaning.ts';
import type { Json } from './property.ts';
import type { Key } from './witness.ts';

/** Fields by object and path: `Deployment NAME-server spec.replicas` → `2`. */
export type State = ReadonlyMap<string, string>;

/** What differs in every life of every kind, by its nature. */
export const always: Mask[] = [
  ...['uid', 'resourceVersion', 'creationTimestamp', 'generation'].map((field) => ({
    field: `* metadata.${field}`,
    because: 'of each life its own',
  })),
  { field: `* metadata.annotations.${annotation.desired}`, because: 'a hash over the UID of the parent' },
  { field: '* metadata.managedFields', because: 'tells who wrote what when, and so the past' },
  { field: '* metadata.labels.touched', because: 'written by the campaign itself' },
  { field: '* status.conditions.*.lastTransitionTime', because: 'a time' },
  { field: '* status.conditions.*.lastUpdateTime', because: 'a time' },
];

/** What a state is judged in: the world around it, and names that chance gave to what came and went. */
export interface Scene {
  table: Meanings;
  now: World;
  passers: readonly KubeObject[];
}

/** The state of a parent. */
export function stateOf(objects: readonly KubeObject[], key: Key, { table, now, passers }: Scene): State {
  const parent = objects.find(({ kind, metadata }) => kind === table.kind.kind && metadata.name === key.name) as Parent;
  const kinds = new Set([table.kind.kind, ...table.children.map(({ kind }) => kind)]);
  const compared = objects.filter((one) => kinds.has(one.kind) && !(parent && table.isRemembered(one, parent, now)));
  const spoken = wordsFor([...passers, ...objects], key);
  const fields = compared.flatMap((object) => {
    const plain = claimed(JSON.parse(spoken(JSON.stringify(object))) as KubeObject);
    const name = `${plain.kind} ${plain.metadata.name}`;
    return flat(plain).map(([path, value]) => [`${name} ${path}`, value] as const);
  });
  return new Map([...fields, ...podsIn(objects, spoken)]);
}

/** Names and UIDs that are a life's own become words; so do names that chance gives to pods and to what makes them. */
function wordsFor(objects: readonly KubeObject[], { namespace, name }: Key): (text: string) => string {
  const uids = objects.flatMap(({ metadata }) => metadata.uid ?? []);
  const pods = objects.filter(({ kind }) => kind === 'Pod').map(({ metadata }) => metadata.name);
  const sets = objects.filter(({ kind }) => kind === 'ReplicaSet').map(({ metadata }) => metadata.name);
  const words = new Map([
    ...uids.map((uid) => [uid, 'UID']),
    ...pods.map((pod) => [pod, 'POD']),
    ...sets.map((set) => [set, 'SET']),
  ] as [string, string][]);
  const spoken = (text: string) => [...words].reduce((all, [word, common]) => all.replaceAll(word, common), text);
  return (text) => spoken(text).replaceAll(name, 'NAME').replaceAll(namespace, 'SPACE');
}

/** A generation that is the object's own says only that it is current; who wrote what is one field. */
function claimed(object: KubeObject): KubeObject {
  const { generation } = object.metadata;
  const text = JSON.stringify(object, (key, value: Json) => {
    if (key === 'managedFields') return canonical(value);
    return key === 'observedGeneration' && value === generation ? 'current' : value;
  });
  return JSON.parse(text) as KubeObject;
}

/** Labels by which Deployments and DaemonSets know their pods: hashes over names, and counts of edits. */
const makersOwn = new Set(['pod-template-hash', 'controller-revision-hash', 'pod-template-generation']);

/** Servers by whose they are and whether they are ready: chance names them. */
function podsIn(objects: readonly KubeObject[], spoken: (text: string) => string): [string, string][] {
  const counts = new Map<string, number>();
  for (const pod of objects.filter((object) => isOfKind(object, Pod))) {
    const { deletionTimestamp, labels = {} } = pod.metadata;
    const own = Object.fromEntries(Object.entries(labels).filter(([key]) => !makersOwn.has(key)));
    if (deletionTimestamp !== undefined || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed')
      continue;
    if (labels['batch.kubernetes.io/job-name'] !== undefined) continue;
    const name = `Pod ${spoken(JSON.stringify(own))} ${pod.status?.phase}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => [`${name} count`, String(count)]);
}

/** Every leaf with its path. Conditions go by their type, everything else in a list by its place. */
export function flat(value: Json, path = ''): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, JSON.stringify(value)]];
  const entries = Array.isArray(value)
    ? value.map((item: Json, index) => [isCondition(item) ? item.type : String(index), item] as const)
    : Object.entries(value as Record<string, Json>);
  if (entries.length === 0) return [[path, Array.isArray(value) ? '[]' : '{}']];
  return entries.flatMap(([step, member]) => flat(member, path === '' ? step : `${path}.${step}`));
}

const isCondition = (item: Json): item is { type: string; status: string } =>
  typeof item === 'object' && item !== null && 'type' in item && 'status' in item;

/** Whether a mask is about a field. */
export function covers({ field }: Mask, name: string): boolean {
  const [kind, path] = split(field);
  const [ownKind = '', , ownPath = ''] = name.split(' ');
  if (kind !== '*' && kind !== ownKind) return false;
  const pattern = path
    .split('.*.')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('\\.[^.]+\\.');
  return new RegExp(`^${pattern}(\\.|$)`).test(ownPath);
}

const split = (field: string): [string, string] => {
  const at = field.indexOf(' ');
  return [field.slice(0, at), field.slice(at + 1)];
};

/** All that two lives must have in common while what is asked cannot be had: what serves meanwhile is the past's, and deadlines pass. */
const whileWaiting = /^\S+ NAME (spec|status\.(observedGeneration|conditions\.Ready\.(status|reason)))/;

/** The part of a state that counts while an object waits. */
export const waitingPart = (state: State): State => new Map([...state].filter(([name]) => whileWaiting.test(name)));

/** How many fields were compared, and how many of them were masked. */
export interface Share {
  fields: number;
  masked: number;
}

/** The same amount may be written in several ways. */
const isSameAmount = (name: string, ...texts: [string, string]): boolean => {
  const [one, other] = texts.map((text) => text.replaceAll('"', ''));
  return /(requests|limits|capacity|allocatedResources)\./.test(name) && sameQuantity(one ?? '', other ?? '');
};

/** Fields that differ and are not masked, in words. */
export function differences(
  found: State,
  expected: State,
  { masks, share }: { masks: readonly Mask[]; share: Share },
): string[] {
  const names = [...new Set([...found.keys(), ...expected.keys()])].toSorted();
  share.fields += names.length;
  return names.flatMap((name) => {
    if (masks.some((mask) => covers(mask, name))) {
      share.masked++;
      return [];
    }
    const [now, then] = [found.get(name) ?? 'nothing', expected.get(name) ?? 'nothing'];
    return now === then || isSameAmount(name, now, then) ? [] : [`${name} is ${now}, expected ${then}`];
  });
}

/** Fields in which lives differ that ought to be the same, as masks beside those that are known. */
export function learned(states: readonly State[], known: readonly Mask[]): Mask[] {
  const all = [...new Set(states.flatMap((state) => [...state.keys()]))];
  const names = all.filter((name) => !known.some((mask) => covers(mask, name)));
  const unsteady = names.filter((name) => new Set(states.map((state) => state.get(name))).size > 1);
  const fields = new Set(unsteady.map((name) => `${name.split(' ')[0]} ${name.split(' ').slice(2).join(' ')}`));
  return [...fields].map((field) => ({ field, because: 'differs between three equal lives' }));
}
