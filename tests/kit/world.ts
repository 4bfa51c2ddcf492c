// The world of one object, in memory, for pure tests of controllers: what the cache would have seen, without a cache.

import type { Observed } from '../../src/kube/define.ts';
import { isOfKind, type Kind, type KubeObject, type ShapeOf } from '../../src/objects/index.ts';

/** An object of somebody else, which only `read` finds. */
export const foreign = (object: KubeObject) => ({ foreign: object });

/** A kind that the cluster does not serve. */
export const lacking = (kind: Kind) => ({ lacking: kind });

/** What a controller sees: own children, pods that carry our labels, and foreign objects. */
export function seen(...objects: (KubeObject | { foreign: KubeObject } | { lacking: Kind })[]): Observed {
  const ours = objects.filter((object): object is KubeObject => 'metadata' in object);
  const others = objects.flatMap((object) => ('foreign' in object ? [object.foreign] : []));
  return {
    get: (kind, name) => named(ours, kind, name),
    all: <K extends readonly Kind[]>(...kinds: K) =>
      kinds.flatMap((kind) => ours.filter((object) => isOfKind(object, kind))) as ShapeOf<K[number]>[],
    serves: (kind) => !objects.some((object) => 'lacking' in object && object.lacking === kind),
    labelled: (kind) => ours.filter((object) => isOfKind(object, kind)),
    read: (kind, name) => named(others, kind, name),
  };
}

const named = <T extends KubeObject>(from: KubeObject[], kind: Kind<T>, name: string): T | undefined =>
  from.filter((object): object is T => isOfKind(object, kind)).find(({ metadata }) => metadata.name === name);
