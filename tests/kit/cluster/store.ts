// The objects of a small cluster in memory, with just so much of an API server as pure functions can notice: names,
// generations, finalizers of claims, and the fields that may not be changed. It is no server, and nothing talks to it
// over a wire; a write that a real one would refuse is thrown as an error.

import { isDeepStrictEqual as same } from 'node:util';
import {
  ControllerRevision,
  Deployment,
  isOfKind,
  type Kind,
  type KubeObject,
  PersistentVolumeClaim,
  Pod,
  quantityOf,
  type StorageClass,
} from '../../../src/objects/index.ts';

/** A write that a real API server would refuse: whoever asked for it is wrong. */
export class Impossible extends Error {}

type WithSpec = KubeObject & { spec?: Record<string, unknown> };

/** Objects by kind and name. Objects are replaced, never changed, so a copy of the map is a picture of the world. */
export class Store {
  /** Grows with every change. */
  version = 0;
  /** Milliseconds. */
  now = Date.parse('2026-01-01T00:00:00Z');
  readonly classes: readonly StorageClass[];
  private objects = new Map<string, KubeObject>();
  private born = 0;
  private classNamed = new Set<string>();

  constructor(classes: readonly StorageClass[]) {
    this.classes = classes;
  }

  /** A picture that goes its own way. */
  copy(): Store {
    const copy = new Store(this.classes);
    copy.objects = new Map(this.objects);
    copy.classNamed = new Set(this.classNamed);
    [copy.version, copy.now, copy.born] = [this.version, this.now, this.born];
    return copy;
  }

  get time(): string {
    return `${new Date(this.now).toISOString().slice(0, 19)}Z`;
  }

  get<T extends KubeObject>(kind: Kind<T>, name: string): T | undefined {
    return this.objects.get(`${kind.kind} ${name}`) as T | undefined;
  }

  all<T extends KubeObject>(kind: Kind<T>): T[] {
    return [...this.objects.values()].filter((object): object is T => isOfKind(object, kind));
  }

  everything(): KubeObject[] {
    return [...this.objects.values()];
  }

  /** Replaces an object as it is; the version grows only if it differs. */
  put(object: KubeObject): void {
    const key = keyOf(object);
    if (same(this.objects.get(key), object)) return;
    this.objects.set(key, object);
    this.version++;
  }

  /** Takes an object out at once. */
  drop(object: KubeObject): void {
    if (this.objects.delete(keyOf(object))) this.version++;
  }

  create(child: KubeObject): KubeObject {
    if (this.objects.has(keyOf(child))) throw new Impossible(`${keyOf(child)} exists already`);
    const { metadata } = child;
    const uid = `uid-${++this.born}`;
    const made = {
      ...child,
      metadata: { ...metadata, namespace: 'shop', uid, generation: 1, creationTimestamp: this.time },
    };
    this.put(isOfKind(made, PersistentVolumeClaim) ? withClass(made) : made);
    return made;
  }

  /** Brings an object to what is wanted; answers whether anything was written. */
  apply(child: KubeObject): boolean {
    const held: WithSpec | undefined = this.objects.get(keyOf(child));
    if (!held) return this.create(child) !== undefined;
    if (isOfKind(child, PersistentVolumeClaim)) this.nameClass(held, child);
    const { annotations, labels } = child.metadata;
    const spec = { ...held.spec, ...(child as WithSpec).spec };
    const reshaped = !same(spec, held.spec ?? {});
    const metadata = {
      ...held.metadata,
      labels: { ...labels },
      annotations: { ...held.metadata.annotations, ...annotations },
      generation: (held.metadata.generation ?? 0) + Number(reshaped),
    };
    const { version } = this;
    const next = { ...held, ...child, metadata, ...((child as WithSpec).spec && { spec }) };
    if (reshaped) this.admit(held, next);
    if (isOfKind(held, ControllerRevision) && !same(held.data, (next as ControllerRevision).data))
      throw new Impossible('the data of a ControllerRevision cannot be changed');
    this.put(next);
    return this.version > version;
  }

  /** Deletes as a client would: a claim waits for the pods that were placed with it. */
  delete(object: KubeObject): void {
    const held = this.objects.get(keyOf(object));
    if (!held) return;
    const waits = isOfKind(held, PersistentVolumeClaim) ? this.isMounted(held) : isOfKind(held, Pod) && runs(held);
    if (!waits) return this.drop(held);
    this.put({
      ...held,
      metadata: { ...held.metadata, deletionTimestamp: held.metadata.deletionTimestamp ?? this.time },
    });
  }

  /** Whether a pod that has a node still stands with this claim, be it long over. */
  isMounted({ metadata: { name } }: PersistentVolumeClaim): boolean {
    return this.all(Pod).some((pod) => pod.spec.nodeName !== undefined && claimOf(pod) === name);
  }

  classOf({ spec }: PersistentVolumeClaim): StorageClass | undefined {
    return this.classes.find(({ metadata }) => metadata.name === spec.storageClassName);
  }

  /** What was applied once belongs to us, and leaving it out takes it away. */
  private nameClass({ metadata: { uid = '' } }: KubeObject, { spec }: PersistentVolumeClaim): void {
    if (spec.storageClassName !== undefined) this.classNamed.add(uid);
    else if (this.classNamed.has(uid)) throw new Impossible('the class of a claim cannot be taken away');
  }

  private admit(held: KubeObject, next: KubeObject): void {
    if (isOfKind(held, Deployment) && isOfKind(next, Deployment)) {
      if (!same(held.spec.selector, next.spec.selector))
        throw new Impossible('the selector of a Deployment cannot be changed');
    }
    if (isOfKind(held, PersistentVolumeClaim) && isOfKind(next, PersistentVolumeClaim)) this.admitClaim(held, next);
  }

  private admitClaim(held: PersistentVolumeClaim, next: PersistentVolumeClaim): void {
    const fixed = ({ spec: { resources: _size, ...rest } }: PersistentVolumeClaim) => rest;
    if (!same(fixed(held), fixed(next))) throw new Impossible('only the size of a claim can be changed');
    if (held.status?.phase !== 'Bound') throw new Impossible('a claim that is not bound cannot be changed');
    if (sizeOf(next) < sizeOf(held)) throw new Impossible('a claim cannot shrink');
    if (this.classOf(held)?.allowVolumeExpansion !== true) throw new Impossible('this class does not expand volumes');
  }
}

const keyOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;

const runs = ({ spec, status }: Pod): boolean =>
  spec.nodeName !== undefined && status?.phase !== 'Failed' && status?.phase !== 'Succeeded';

/** The class that a cluster gives to a claim which names none. */
const withClass = (claim: PersistentVolumeClaim): PersistentVolumeClaim => ({
  ...claim,
  spec: { ...claim.spec, storageClassName: claim.spec.storageClassName ?? 'standard' },
  status: { phase: 'Pending' },
});

const sizeOf = ({ spec }: PersistentVolumeClaim): bigint => quantityOf(spec.resources?.requests?.storage ?? '0') ?? 0n;

/** The claim that a pod mounts its weights from. */
export function claimOf({ spec }: Pod): string | undefined {
  const volumes = (spec['volumes'] ?? []) as { persistentVolumeClaim?: { claimName: string } }[];
  return volumes.find((volume) => volume.persistentVolumeClaim)?.persistentVolumeClaim?.claimName;
}
