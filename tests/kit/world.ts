// The world of one object, in memory, for pure tests of controllers: what the cache would have seen, without a cache.

import type { Observed } from '../../src/kube/define.ts';
import { isOfKind, type Kind, type KubeObject, type ShapeOf } from '../../src/objects/index.ts';

/** An object of somebody else, which only `read` finds. */
export const foreign = (object: KubeObject) => ({ foreign: object });

/** A kind that the cluster does not serve. */
export const lacking = (kind: Kind) => ({ lacking: kind });

/** A kind outside namespaces, where there are Roles only. */
export const unseen = (kind: Kind) => ({ unseen: kind });

type Part = KubeObject | { foreign: KubeObject } | { lacking: Kind } | { unseen: Kind };

/** What a controller sees: own children, pods that carry our labels, and foreign objects. */
export function seen(...objects: Part[]): Observed {
  const ours = objects.filter((object): object is KubeObject => 'metadata' in object);
  const others = objects.flatMap((object) => ('foreign' in object ? [object.foreign] : []));
  return {
    get: (kind, name) => named(ours, kind, name),
    all: <K extends readonly Kind[]>(...kinds: K) =>
      kinds.flatMap((kind) => ours.filter((object) => isOfKind(object, kind))) as ShapeOf<K[number]>[],
    serves: (kind) => !objects.some((object) => 'lacking' in object && object.lacking === kind),
    labelled: (kind) => ours.filter((object) => isOfKind(object, kind)),
    read: (kind, name) => named(others, kind, name),
    each: (kind, view) =>
      objects.some((object) => 'unseen' in object && object.unseen === kind)
        ? undefined
        : others.flatMap((object) => (isOfKind(object, kind) ? (view(object) ?? []) : [])),
  };
}

const named = <T extends KubeObject>(from: KubeObject[], kind: Kind<T>, name: string): T | undefined =>
  from.filter((object): object is T => isOfKind(object, kind)).find(({ metadata }) => metadata.name === name);
