// The oracles of the fault tests: questions about the truth of a life and about what the operator sent, the same for every
// kind. What a kind promises is in its description.

import type { Call } from '../../controlplane/faults/index.ts';
import { canonical } from '../../src/base/index.ts';
import type { Parent } from '../../src/kube/define.ts';
import {
  annotation,
  conditionOf,
  ControllerRevision,
  controllerOf,
  isOfKind,
  type Kind,
  KubeEvent,
  kindOf,
  type KubeObject,
  Pod,
} from '../../src/objects/index.ts';
import type { Revision, Subject, World } from './subject.ts';
import { idOf, worldOf } from './truth.ts';

const ReplicaSet = kindOf<KubeObject>('apps/v1', 'ReplicaSet', 'replicasets');

/** All kinds whose objects are told in a life of the subject. */
export const toldOf = ({ kind, children }: Subject): Kind[] => [kind, ...children, ReplicaSet, Pod, KubeEvent];

/** How often each object was made and how often it went, by whomever. */
export function births(history: readonly Revision[]): Record<string, { made: number; gone: number }> {
  const counts: Record<string, { made: number; gone: number }> = {};
  for (const { type, object } of history) {
    const name = calledIn(object);
    if (name === undefined) continue;
    const count = (counts[name] ??= { made: 0, gone: 0 });
    if (type === 'ADDED') count.made++;
    if (type === 'DELETED') count.gone++;
  }
  return counts;
}

/** Chance names pods and the history of DaemonSets, so they go by whose they are; Events go by what they say, and only ours count. */
function calledIn(object: KubeObject): string | undefined {
  if (isOfKind(object, Pod) || isOwnHistory(object))
    return `${object.kind} of ${controllerOf(object)?.kind} ${controllerOf(object)?.name}`;
  if (!isOfKind(object, KubeEvent)) return idOf(object);
  return object.source?.component === 'baton' ? `Event ${object.reason}: ${object.message}` : undefined;
}

/** What a DaemonSet keeps of its former templates, in objects that no controller of ours made. */
const isOwnHistory = (object: KubeObject): boolean =>
  isOfKind(object, ControllerRevision) && controllerOf(object)?.kind === 'DaemonSet';

/** Everything that was promised and not kept, in states that were passed through and in what was sent. */
export function brokenPromises<P extends Parent>(
  history: readonly Revision[],
  writes: readonly Call[],
  subject: Subject<P>,
): string[] {
  const existing = new Map<string, KubeObject>();
  const now = worldOf(existing);
  const found = history.flatMap((revision) => {
    const { type, object } = revision;
    if (type === 'DELETED') existing.delete(idOf(object));
    else existing.set(idOf(object), object);
    return [...lies(revision, now, subject), ...subject.wrongs(revision, now)];
  });
  return [...new Set([...found, ...subject.misdeeds(writes)])];
}

/** What an object that says that it is Ready lacks at that moment. */
function lies<P extends Parent>({ object }: Revision, now: World, subject: Subject<P>): string[] {
  if (!isOfKind(object, subject.kind) || !saysReady(object)) return [];
  const { name, generation, resourceVersion } = object.metadata;
  return subject
    .lackOf(object, now)
    .map((lack) => `${name} was Ready at version ${resourceVersion}, generation ${generation}, but ${lack}`);
}

/** Whether an object says that it is Ready, as its current generation asks. */
export function saysReady({ metadata, status }: Parent): boolean {
  const ready = conditionOf(status, 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation && !metadata.deletionTimestamp;
}

/** Whether nothing is on its way out: the garbage collector takes its time. */
export function isTidy(objects: readonly KubeObject[]): boolean {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid));
  return objects.every((object) => {
    const owner = controllerOf(object);
    return object.metadata.deletionTimestamp === undefined && (!owner || uids.has(owner.uid));
  });
}

/** What exists now, without what differs from run to run: fields are masked, never whole objects. Pods, Events and the history of DaemonSets are counted instead. */
export function stateOf(objects: readonly KubeObject[], subject: Subject): Record<string, unknown> {
  const isCounted = (object: KubeObject) =>
    isOfKind(object, Pod) || isOfKind(object, KubeEvent) || isOwnHistory(object);
  const compared = objects.filter((object) => !isCounted(object));
  const words = objects.flatMap((object) => [
    object.metadata.uid ?? '',
    object.metadata.namespace ?? '',
    ...subject.chance(object),
  ]);
  const mask = {
    fields: new Set([...always, ...subject.fleeting]),
    words: new Set(words.filter((word) => word !== '')),
  };
  return Object.fromEntries(compared.map((object) => [idOf(object), masked(object, mask)]));
}

/** Differ in every run of every kind, by their nature. */
const always = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'time',
  'lastTransitionTime',
  'lastUpdateTime',
  annotation.desired, // a hash over the UID of the parent
];

function masked(object: KubeObject, { fields, words }: { fields: Set<string>; words: Set<string> }): unknown {
  const text = JSON.stringify(object, (key, value: unknown) => (fields.has(key) ? 'masked' : value));
  return sorted(JSON.parse([...words].reduce((all, word) => all.replaceAll(word, 'masked'), text)) as KubeObject);
}

/** The server keeps the entries of the field managers in the order of their times. */
function sorted(object: KubeObject): KubeObject {
  const { managedFields = [] } = object.metadata as { managedFields?: object[] };
  const inOrder = managedFields.toSorted((a, b) => (canonical(a) < canonical(b) ? -1 : 1));
  return { ...object, metadata: { ...object.metadata, managedFields: inOrder } as KubeObject['metadata'] };
}
