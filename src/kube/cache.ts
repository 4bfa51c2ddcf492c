// What is known of one kind: the view that its watches give, and over it the answers to our own writes, which enter
// at once and give way when the watch has passed them. So a pass never acts on a world older than its own deeds.

import type { Clock } from '../base/index.ts';
import { controllerOf, type Kind, type KubeObject, label } from '../objects/index.ts';
import { type Entry, entryFrom } from './parse.ts';
import { compareVersions } from './version.ts';
import { type Feed, keyOf, type ObjectEvent } from './follow.ts';
import type { Source } from './watch.ts';

/** One change of what is held. `own`: the echo of a write of ours, which is no news. */
export interface Change {
  store: Store;
  before?: KubeObject;
  after?: KubeObject;
  own: boolean;
}

/** A write of ours that the watch has not confirmed yet; without `resourceVersion` it was a deletion. */
interface Pending {
  uid: string;
  resourceVersion?: string;
  at: number;
}

export interface StoreOptions {
  kind: Kind;
  /** Only what is labelled with one of these kinds can be a child; everything that is held, if left out. */
  childKinds?: readonly string[];
  clock: Clock;
  /** Told after the store has changed. A listener that throws is reported and harms nobody else. */
  onChange: (change: Change) => void;
  onListenerError: (error: unknown) => void;
}

/** How far one watch has come, among the keys that it tells of. */
interface Position {
  covers: (key: string) => boolean;
  resourceVersion: string;
}

/** The part of a store that one watch fills. */
export interface StoreFeed extends Feed {
  /** The API server knows no such kind, so there is nothing of it. */
  absent(): void;
}

/** The objects of one kind, with an index by owner and one by our labels. */
export class Store {
  readonly kind: Kind;
  private readonly options: StoreOptions;
  private readonly entries = new Map<string, Entry>();
  private readonly pending = new Map<string, Pending>();
  private readonly owned = new Index();
  /** Made when somebody first asks: of most kinds nobody does. */
  private labelled: Index | undefined;
  private readonly unsynced = new Set<Source>();
  private readonly feeds: Position[] = [];
  private absent = false;

  constructor(options: StoreOptions) {
    this.options = options;
    this.kind = options.kind;
  }

  /** Whether every watch of this kind has given a whole view. */
  get synced(): boolean {
    return this.unsynced.size === 0;
  }

  /** Whether the API server serves this kind, as far as its watches know. */
  get served(): boolean {
    return !this.absent;
  }

  get size(): number {
    return this.entries.size;
  }

  get(namespace: string, name: string): Entry | undefined {
    return this.entries.get(`${namespace}/${name}`);
  }

  all(): Iterable<Entry> {
    return this.entries.values();
  }

  /** Children of an owner, in its own namespace: controlled by it, or without a controller and labelled with its UID. */
  ownedBy(namespace: string, uid: string): Entry[] {
    // Anybody may write any UID into a reference or a label; only those who may write beside the owner are believed.
    return this.pick(this.owned.get(uid)).filter(({ object }) => (object.metadata.namespace ?? '') === namespace);
  }

  /** Objects that carry our labels for a parent. */
  labelledFor(kind: string, namespace: string, name: string): Entry[] {
    return this.pick((this.labelled ??= this.indexLabels()).get(`${kind}/${namespace}/${name}`));
  }

  /** The answer to a write of ours. One that the watch has overtaken is dropped: the object may be gone since. */
  wrote(answer: KubeObject): void {
    const entry = entryFrom(answer);
    const version = entry.object.metadata.resourceVersion ?? '';
    if (
      this.feeds.some(
        ({ covers, resourceVersion }) => covers(keyOf(entry)) && compareVersions(version, resourceVersion) <= 0,
      )
    )
      return;
    this.enter(entry, version);
  }

  /** An object that a live look found, though the watch does not show it: it may have lost what the watch selects by. */
  found(live: KubeObject): void {
    this.enter(entryFrom(live), live.metadata.resourceVersion ?? '');
  }

  private enter(entry: Entry, version: string): void {
    const key = keyOf(entry);
    const held = this.entries.get(key);
    if (held && compareVersions(held.object.metadata.resourceVersion ?? '', version) >= 0) return;
    this.pending.set(key, { uid: entry.object.metadata.uid ?? '', resourceVersion: version, at: this.now() });
    this.set(key, entry, true);
  }

  /** A deletion of ours was carried out and the object is gone. */
  deleted(object: KubeObject): void {
    const { namespace = '', name, uid = '' } = object.metadata;
    const key = `${namespace}/${name}`;
    if (this.entries.get(key)?.object.metadata.uid !== uid) return;
    this.pending.set(key, { uid, at: this.now() });
    this.set(key, undefined, true);
  }

  /** The part of this store that one watch fills. */
  feed(source: Source): StoreFeed {
    this.unsynced.add(source);
    const covers = (key: string) => source.namespace === undefined || key.startsWith(`${source.namespace}/`);
    const position: Position = { covers, resourceVersion: '' };
    this.feeds.push(position);
    const reached = (resourceVersion: string) => void (position.resourceVersion = resourceVersion);
    return {
      held: (entry) => (this.unsynced.has(source) ? this.early(entry) : this.held(entry)),
      changed: (event) => {
        reached(event.entry.object.metadata.resourceVersion ?? '');
        this.changed(event);
      },
      passed: (resourceVersion) => {
        reached(resourceVersion);
        this.passed(resourceVersion, covers);
      },
      replace: (entries, resourceVersion, began) => {
        this.unsynced.delete(source);
        this.absent = false;
        reached(resourceVersion);
        this.replace(entries, { resourceVersion, began, covers });
      },
      absent: () => {
        this.unsynced.delete(source);
        this.absent = true;
        reached('');
        this.replace(new Map(), { resourceVersion: '', began: Infinity, covers });
      },
    };
  }

  /** Nobody acts before the first view is whole: its objects are taken in as they come, not all in one long turn at its end. */
  private early(entry: Entry): Entry {
    const key = keyOf(entry);
    if (!this.pending.has(key)) this.set(key, entry, false);
    return entry;
  }

  private held(entry: Entry): Entry {
    const known = this.entries.get(keyOf(entry));
    return known && sameVersion(known.object, entry.object) ? known : entry;
  }

  private changed({ type, entry }: ObjectEvent): void {
    const key = keyOf(entry);
    const after = type === 'DELETED' ? undefined : entry;
    const pending = this.pending.get(key);
    if (!pending) return this.set(key, after, false);
    const verdict =
      pending.resourceVersion === undefined ? afterDeletion(pending, entry, after) : afterWrite(pending, entry);
    if (verdict === 'older') return;
    this.pending.delete(key);
    this.set(key, after, verdict === 'echo');
  }

  /** A write that the watch has passed without a word is not in its view: what we held was a phantom. */
  private passed(resourceVersion: string, covers: (key: string) => boolean): void {
    for (const [key, pending] of this.pending) {
      if (pending.resourceVersion === undefined || !covers(key)) continue;
      if (compareVersions(pending.resourceVersion, resourceVersion) > 0) continue;
      this.pending.delete(key);
      this.set(key, undefined, false);
    }
  }

  /** A whole view wins over everything, also over a newer past (etcd may have been restored), except writes made meanwhile. */
  private replace(
    entries: Map<string, Entry>,
    view: { resourceVersion: string; began: number; covers: (key: string) => boolean },
  ): void {
    const outlives = (key: string): boolean => {
      const pending = this.pending.get(key);
      if (!pending || pending.at < view.began) return false;
      return (
        pending.resourceVersion === undefined || compareVersions(pending.resourceVersion, view.resourceVersion) > 0
      );
    };
    for (const key of this.pending.keys()) if (view.covers(key) && !outlives(key)) this.pending.delete(key);
    for (const key of this.entries.keys())
      if (!entries.has(key) && view.covers(key) && !this.pending.has(key)) this.set(key, undefined, false);
    for (const [key, entry] of entries) if (!this.pending.has(key)) this.set(key, entry, false);
  }

  private set(key: string, after: Entry | undefined, own: boolean): void {
    const before = this.entries.get(key);
    if (before === after) return;
    if (before) this.unindex(key, before.object);
    if (after) {
      this.entries.set(key, after);
      this.index(key, after.object);
    } else this.entries.delete(key);
    if (before && after && sameVersion(before.object, after.object)) return;
    this.tell({ store: this, own, ...(before && { before: before.object }), ...(after && { after: after.object }) });
  }

  private tell(change: Change): void {
    try {
      this.options.onChange(change);
    } catch (error) {
      this.options.onListenerError(error);
    }
  }

  /** Where others' objects are held, too, an owner alone makes no child: it may stand there only for the collector. */
  private ownerOf(object: KubeObject): string | undefined {
    const { childKinds } = this.options;
    return childKinds?.includes(object.metadata.labels?.[label.kind] ?? '') === false ? undefined : ownerUid(object);
  }

  private index(key: string, object: KubeObject): void {
    const owner = this.ownerOf(object);
    if (owner) this.owned.add(owner, key);
    const parent = this.labelled && labelledParent(object);
    if (parent) this.labelled?.add(parent, key);
  }

  private unindex(key: string, object: KubeObject): void {
    const owner = this.ownerOf(object);
    if (owner) this.owned.remove(owner, key);
    const parent = this.labelled && labelledParent(object);
    if (parent) this.labelled?.remove(parent, key);
  }

  private indexLabels(): Index {
    const index = new Index();
    for (const [key, { object }] of this.entries) {
      const parent = labelledParent(object);
      if (parent) index.add(parent, key);
    }
    return index;
  }

  private pick(keys: Iterable<string>): Entry[] {
    return [...keys].map((key) => this.entries.get(key)).filter((entry) => entry !== undefined);
  }

  private now(): number {
    return this.options.clock.monotonic();
  }
}

/** Keys by some text. Most texts have one key, so a set is made only for the second. */
class Index {
  private readonly keys = new Map<string, string | Set<string>>();

  get(text: string): Iterable<string> {
    const found = this.keys.get(text);
    return typeof found === 'string' ? [found] : (found ?? []);
  }

  add(text: string, key: string): void {
    const found = this.keys.get(text);
    if (found === undefined) this.keys.set(text, key);
    else if (typeof found === 'string') this.keys.set(text, new Set([found, key]));
    else found.add(key);
  }

  remove(text: string, key: string): void {
    const found = this.keys.get(text);
    if (found === key) this.keys.delete(text);
    if (!(found instanceof Set)) return;
    found.delete(key);
    if (found.size === 0) this.keys.delete(text);
  }
}

type Verdict = 'older' | 'echo' | 'news';

function afterWrite(pending: Pending, { object: { metadata } }: Entry): Verdict {
  const order = compareVersions(metadata.resourceVersion ?? '', pending.resourceVersion ?? '');
  if (order < 0) return 'older';
  return order === 0 ? 'echo' : 'news';
}

function afterDeletion(pending: Pending, { object: { metadata } }: Entry, after: Entry | undefined): Verdict {
  if (metadata.uid !== pending.uid) return 'news';
  if (!after) return 'echo';
  return metadata.deletionTimestamp === undefined ? 'older' : 'news';
}

const sameVersion = (a: KubeObject, b: KubeObject): boolean =>
  a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;

const ownerUid = (object: KubeObject): string | undefined =>
  controllerOf(object)?.uid ?? object.metadata.labels?.[label.uid];

function labelledParent({ metadata: { namespace = '', labels } }: KubeObject): string | undefined {
  const kind = labels?.[label.kind];
  const name = labels?.[label.name];
  return kind === undefined || name === undefined ? undefined : `${kind}/${namespace}/${name}`;
}
