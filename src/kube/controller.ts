// Runs one definition: changes come in, keys go to the queue, passes come out. It works only while all that it needs is
// there: whole views of its kinds, its permissions, and leadership. Until then keys are kept, and nothing is lost.

import { type Clock, type Log, wordsOf } from '../base/index.ts';
import { type Kind, type KubeObject, sameKind } from '../objects/index.ts';
import type { Change, Store } from './cache.ts';
import type { ControllerDefinition } from './define.ts';
import { NotLeading } from './lease.ts';
import { Queue } from './queue.ts';
import type { Priority } from './queue.ts';
import { type Bench, reconcile } from './reconcile.ts';
import { Refusal, Stale } from './refusal.ts';
import { type Key, keyFrom, keyOfObject, keyText, parentsOf } from './routes.ts';

export interface ControllerOptions {
  bench: Bench;
  workers: number;
  clock: Clock;
  random: () => number;
  log: Log;
  /** A write was refused for want of a right. */
  forbidden: () => void;
  /** One pass ended, for metrics. */
  passed: (result: 'done' | 'stale' | 'failed', ms: number) => void;
}

/** What keeps a controller from working, by name, with the words for a person. */
export type Holds = Map<string, string>;

export class Controller {
  readonly queue: Queue;
  readonly kinds: readonly Kind[];
  readonly holds: Holds = new Map();
  private readonly options: ControllerOptions;
  /** What was logged last of each object whose passes fail: the same words are news only once. */
  private readonly complaints = new Map<string, string>();

  constructor(options: ControllerOptions) {
    this.options = options;
    const { definition } = options.bench;
    this.kinds = [definition.kind, ...(definition.aliases ?? [])];
    this.queue = new Queue({
      ...options,
      run: (key) => this.pass(key),
      failed: (key, error, failures, delay) => this.failed(key, error, failures, delay),
    });
    this.queue.pause();
  }

  get definition(): ControllerDefinition {
    return this.options.bench.definition;
  }

  /** The objects that this controller is for. */
  get parents(): readonly Store[] {
    return [...this.options.bench.parents.values()];
  }

  /** Whether there is a whole view of everything that this controller cannot do without. */
  get synced(): boolean {
    return this.needed().every((store) => store?.synced);
  }

  /** An alias may be absent: nothing that is decided for the kind itself depends on it. */
  needs(store: Store): boolean {
    return this.needed().includes(store);
  }

  /** Whether this controller can do without a kind. */
  canLack(kind: Kind): boolean {
    return this.definition.mayLack?.some((one) => sameKind(one.kind, kind)) ?? false;
  }

  get name(): string {
    return this.definition.kind.kind;
  }

  /** Sets or lifts one reason not to work. */
  hold(reason: string, words: string | undefined): void {
    if (words === undefined) this.holds.delete(reason);
    else this.holds.set(reason, words);
    if (this.holds.size === 0) this.queue.resume();
    else this.queue.pause();
  }

  /** A change of anything; what does not concern this controller passes by. */
  changed(change: Change): void {
    const { store, before, after, own } = change;
    const { parents, stores, subscriptions } = this.options.bench;
    const object = after ?? before;
    if (!object) return;
    const key = keyOfObject(store.kind, object);
    if (parents.get(store.kind) === store && !own) this.wake(key, this.priorityOf(change));
    if ((stores.owned.includes(store) || stores.labelled.includes(store)) && !own) this.wakeParents(before, after);
    if (!stores.read.includes(store)) return;
    const viewers = subscriptions.viewersOf(store.kind, before, after);
    for (const reader of [...subscriptions.readersOf(keyText(key)), ...viewers]) this.queue.add(reader, 'change');
  }

  /** Something came or went that every object may care about. */
  lookAtAll(): void {
    for (const store of this.parents)
      for (const { object } of store.all()) this.wake(keyOfObject(store.kind, object), 'resync');
  }

  /** A fact of this key changed. */
  woken(key: string): void {
    this.queue.add(key, 'change');
  }

  private needed(): (Store | undefined)[] {
    const { parents, stores } = this.options.bench;
    return [parents.get(this.definition.kind), ...stores.owned, ...stores.labelled, ...stores.read];
  }

  private wake(key: Key, priority: Priority): void {
    this.queue.add(keyText(key), priority);
  }

  /**
   * Owners and labels can be edited: whoever had the object and whoever has it now should look. A parent that is not
   * there has nothing to look at, and is woken when it comes.
   */
  private wakeParents(...objects: (KubeObject | undefined)[]): void {
    const { parents } = this.options.bench;
    const exists = ({ kind, namespace, name }: Key) => parents.get(kind)?.get(namespace, name) !== undefined;
    for (const object of objects)
      for (const key of object ? parentsOf(object, this.kinds) : []) if (exists(key)) this.wake(key, 'change');
  }

  /** A person's edit goes first; the first view of the world is looked through when there is time. */
  private priorityOf({ before, after }: Change): Priority {
    if (this.holds.has('sync')) return 'resync';
    const edited = before?.metadata.generation !== after?.metadata.generation;
    return edited || after?.metadata.deletionTimestamp ? 'edit' : 'change';
  }

  private async pass(text: string): Promise<{ again?: number }> {
    const { bench, clock, passed } = this.options;
    const begun = clock.monotonic();
    try {
      const result = await reconcile(keyFrom(text, this.kinds), bench);
      passed('done', clock.monotonic() - begun);
      this.complaints.delete(text);
      return result;
    } catch (error) {
      passed(error instanceof Stale ? 'stale' : 'failed', clock.monotonic() - begun);
      throw error;
    }
  }

  private failed(key: string, error: unknown, failures: number, delay: number): void {
    if (error instanceof Refusal && error.reason === 'MissingPermission') this.options.forbidden();
    if (error instanceof NotLeading || (error instanceof Stale && failures < 5)) return;
    const words = wordsOf(error);
    const level = this.complaints.get(key) === words ? 'debug' : 'warn';
    this.complaints.set(key, words);
    // The cause of a refusal says the same once more, in the words of a request.
    const fields = { key, error: error instanceof Refusal ? words : error, failures, delayMs: Math.round(delay) };
    this.options.log[level]('a pass failed and will be tried again', fields);
  }
}
