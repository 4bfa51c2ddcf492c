// Which watches a set of definitions needs, and the stores that they fill. One store for each kind and selection,
// shared by all controllers that need just that; one watch a store and namespace.

import type { Clock } from '../base/index.ts';
import { ConfigMap, type Kind, label, sameKind } from '../objects/index.ts';
import { type Change, Store } from './cache.ts';
import type { ControllerDefinition } from './define.ts';
import type { Stores } from './observe.ts';
import type { Source } from './watch.ts';

export interface WorldOptions {
  definitions: readonly ControllerDefinition[];
  /** Namespaces to work in; empty means all. */
  namespaces: readonly string[];
  /** Chooses the parents that this operator looks after; others belong to another version of it. */
  parentSelector?: string;
  clock: Clock;
  onChange: (change: Change) => void;
  onListenerError: (error: unknown) => void;
}

type Selection = Pick<Source, 'labelSelector' | 'metadataOnly'>;

/** Everything that an operator knows of the cluster. */
export class World {
  private readonly options: WorldOptions;
  private readonly planned = new Map<string, { store: Store; selection: Selection }>();

  constructor(options: WorldOptions) {
    this.options = options;
  }

  /** The parents of a definition, by kind. */
  parentsOf(definition: ControllerDefinition): Map<Kind, Store> {
    const { parentSelector: labelSelector } = this.options;
    const selection = { metadataOnly: false, ...(labelSelector !== undefined && { labelSelector }) };
    return new Map([definition.kind, ...(definition.aliases ?? [])].map((kind) => [kind, this.store(kind, selection)]));
  }

  /** What a definition sees beside its parents. */
  storesOf({ owns, labelled = [], reads = [] }: ControllerDefinition): Stores {
    const read = (kind: Kind) => this.store(kind, { metadataOnly: isLarge(kind) });
    const selected = (kind: Kind) =>
      this.isReadWhole(kind)
        ? read(kind)
        : this.store(kind, { labelSelector: this.childSelector(kind), metadataOnly: false });
    return {
      owned: owns.map(selected),
      labelled: labelled.map(selected),
      read: reads.filter((kind) => this.sees(kind)).map(read),
    };
  }

  /** What somebody reads whole has all children in it: one watch is enough. */
  private isReadWhole(kind: Kind): boolean {
    const isRead = this.options.definitions.some(({ reads = [] }) => reads.some((one) => sameKind(one, kind)));
    return isRead && this.sees(kind) && !isLarge(kind);
  }

  /** With Roles only, what lives outside namespaces cannot be seen: whoever reads it finds nothing. */
  private sees(kind: Kind): boolean {
    return kind.namespaced || this.options.namespaces.length === 0;
  }

  /** All watches, each with the store that it fills. */
  sources(): { store: Store; source: Source }[] {
    return [...this.planned.values()].flatMap(({ store, selection }) =>
      this.namespacesFor(store.kind).map((namespace) => ({
        store,
        source: {
          kind: store.kind,
          ...selection,
          ...(namespace !== undefined && { namespace }),
          ...this.lackOf(store.kind),
        },
      })),
    );
  }

  /** The namespaces to ask about; undefined is everywhere. */
  namespacesFor(kind: Kind): (string | undefined)[] {
    const { namespaces } = this.options;
    return kind.namespaced && namespaces.length > 0 ? [...namespaces] : [undefined];
  }

  /** How soon a kind is noticed that may be absent. */
  private lackOf(kind: Kind): Pick<Source, 'noticedWithin'> {
    const all = this.options.definitions.flatMap(({ mayLack = [] }) => mayLack);
    const times = all.filter((one) => sameKind(one.kind, kind)).map(({ noticedWithin }) => noticedWithin);
    return times.length > 0 ? { noticedWithin: Math.min(...times) } : {};
  }

  private store(kind: Kind, selection: Selection): Store {
    const id = [kind.apiVersion, kind.kind, selection.labelSelector, selection.metadataOnly].join('|');
    const found = this.planned.get(id);
    if (found) return found.store;
    const isSelected = selection.labelSelector !== undefined;
    const store = new Store({ ...this.options, kind, ...(!isSelected && { childKinds: this.usersOf(kind) }) });
    this.planned.set(id, { store, selection });
    return store;
  }

  /** The kinds whose definitions have children of a kind. */
  private usersOf(kind: Kind): string[] {
    const users = this.options.definitions.filter(({ owns, labelled = [] }) =>
      [...owns, ...labelled].some((one) => sameKind(one, kind)),
    );
    return users.map((definition) => definition.kind.kind).toSorted();
  }

  private childSelector(kind: Kind): string {
    return `${label.kind} in (${this.usersOf(kind).join(',')})`;
  }
}

/** Other people's ConfigMaps may be large and are none of our business: their metadata is enough to react to a change. */
const isLarge = (kind: Kind): boolean => sameKind(kind, ConfigMap);
