// What one pass may see: the children of the object, objects that carry its labels, and, remembered as subscriptions,
// the objects of others that it asked for. All from the cache.

import { type Kind, type KubeObject, sameKind, type ShapeOf } from '../objects/index.ts';
import type { Store } from './cache.ts';
import type { Owner } from './child.ts';
import type { Observed } from './define.ts';
import { keyText, type View } from './routes.ts';

export interface Stores {
  owned: readonly Store[];
  labelled: readonly Store[];
  read: readonly Store[];
}

/** The world as one object sees it; `reads` and `views` fill with what was asked for. */
export function observe(owner: Owner, stores: Stores): { seen: Observed; reads: Set<string>; views: View[] } {
  const { namespace = '', name, uid = '' } = owner.object.metadata;
  const reads = new Set<string>();
  const views: View[] = [];
  // A decision asks for the same again and again, and the world stands still while it is made.
  const ownedOf = remembered((kind) => declared(kind, stores.owned, 'owns').ownedBy(namespace, uid));
  const labelledOf = remembered((kind) =>
    declared(kind, stores.labelled, 'labelled').labelledFor(owner.labelKind, namespace, name),
  );
  const seen: Observed = {
    get: (kind, child) => ownedOf(kind).find((object) => object.metadata.name === child),
    all: <K extends readonly Kind[]>(...kinds: K) => kinds.flatMap((kind) => ownedOf(kind)) as ShapeOf<K[number]>[],
    serves: (kind) => declared(kind, stores.owned, 'owns').served,
    labelled: (kind) => [...labelledOf(kind)],
    read: <T extends KubeObject>(kind: Kind<T>, other: string) => {
      const place = kind.namespaced ? namespace : '';
      reads.add(keyText({ kind, namespace: place, name: other }));
      const store = stores.read.find((one) => sameKind(one.kind, kind));
      if (!store && !kind.namespaced) return undefined; // not to be seen with Roles only
      return (store ?? declared(kind, stores.read, 'reads')).get(place, other)?.object as T | undefined;
    },
    each: (kind, view) => {
      // In namespaces it would tell of objects that the author of the parent may not see.
      if (kind.namespaced) throw new TypeError(`${kind.kind} is in namespaces, where nothing is looked at as a whole`);
      const store = stores.read.find((one) => sameKind(one.kind, kind));
      if (!store) return undefined; // not to be seen with Roles only
      views.push({ kind, of: view as View['of'] });
      return inOrder([...store.all()]).flatMap((object) => view(object as Parameters<typeof view>[0]) ?? []);
    },
  };
  return { seen, reads, views };
}

/** Objects of a kind in the order of their names, looked up once. */
function remembered(find: (kind: Kind) => { object: KubeObject }[]) {
  const found = new Map<Kind, KubeObject[]>();
  return <T extends KubeObject>(kind: Kind<T>): readonly T[] => {
    const objects = found.get(kind) ?? inOrder(find(kind));
    found.set(kind, objects);
    return objects as T[];
  };
}

const inOrder = (entries: { object: KubeObject }[]): KubeObject[] =>
  entries.map(({ object }) => object).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

function declared(kind: Kind, stores: readonly Store[], list: string): Store {
  const store = stores.find((one) => sameKind(one.kind, kind));
  if (store) return store;
  throw new TypeError(`${kind.kind} was asked for, but is not in \`${list}\` of the definition`);
}
