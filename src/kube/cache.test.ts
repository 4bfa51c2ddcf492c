// The cache against a naive model: a server with one linear history, outsiders and ourselves writing to it, and a watch
// that delivers late, twice, or stale. Whatever the order, the cache ends where the server is and never forgets our own writes.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../base/index.ts';
import { ConfigMap, type KubeObject, label } from '../objects/index.ts';
import { type Change, Store } from './cache.ts';
import { Follower } from './follow.ts';
import type { WatchEvent } from './parse.ts';
import { compareVersions } from './version.ts';

type Live = Map<string, KubeObject>;

/** Time that moves only when told, and at once. */
function fakeClock(): Clock & { advance(ms: number): void } {
  let time = 0;
  return { now: () => time, monotonic: () => time, after: () => () => {}, advance: (ms) => void (time += ms) };
}

class Model {
  readonly clock = fakeClock();
  readonly changes: Change[] = [];
  readonly store = new Store({
    kind: ConfigMap,
    clock: this.clock,
    onChange: (change) => this.changes.push(change),
    onListenerError: () => {},
  });
  readonly live: Live = new Map();
  readonly history: WatchEvent[] = [];
  private readonly feed = this.store.feed({ kind: ConfigMap, metadataOnly: false });
  private follower = new Follower(this.feed, 0, undefined);
  /** Answers to writes of ours that are still on their way. */
  readonly onTheWay: KubeObject[] = [];
  private delivered = 0;
  private version = 100;
  private born = 0;

  constructor() {
    this.relist();
  }

  write(name: string, owner: string): KubeObject {
    const uid = this.live.get(name)?.metadata.uid ?? `uid-${++this.born}`;
    const metadata = {
      name,
      namespace: 'ns',
      uid,
      resourceVersion: String(++this.version),
      labels: { [label.uid]: owner },
    };
    const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    this.history.push({ type: this.live.has(name) ? 'MODIFIED' : 'ADDED', entry: { object, hand: 'none' } });
    this.live.set(name, object);
    return object;
  }

  remove(name: string): KubeObject | undefined {
    const object = this.live.get(name);
    if (!object) return undefined;
    this.live.delete(name);
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } };
    this.history.push({ type: 'DELETED', entry: { object: gone, hand: 'none' } });
    return object;
  }

  deliver(count: number): void {
    for (; count > 0 && this.delivered < this.history.length; count--) this.take(this.history[this.delivered++]);
  }

  /** Some of what was delivered comes again, and ends in the past. */
  replay(from: number, count: number): void {
    for (const event of this.history.slice(0, this.delivered).slice(from, from + count)) this.take(event);
  }

  bookmark(): void {
    const last = this.history[this.delivered - 1];
    if (last && 'entry' in last)
      this.take({
        type: 'BOOKMARK',
        resourceVersion: last.entry.object.metadata.resourceVersion ?? '',
        endsInitial: false,
      });
  }

  /** A consistent list, read before `writes` happened and complete after them. */
  relist(meanwhile: () => unknown = () => {}): void {
    this.clock.advance(1);
    const view = [...this.live.values()];
    const version = String(this.version);
    const upTo = this.history.length;
    this.follower = new Follower(this.feed, this.clock.monotonic(), undefined);
    this.clock.advance(1);
    meanwhile();
    for (const object of view) this.follower.collect({ object, hand: 'none' });
    this.follower.complete(version);
    this.delivered = upTo;
  }

  private take(event: WatchEvent | undefined): void {
    if (event) this.follower.take(event);
  }

  held(): Map<string, string> {
    return new Map(
      [...this.store.all()].map(({ object: { metadata } }) => [metadata.name, metadata.resourceVersion ?? '']),
    );
  }
}

const name = fc.constantFrom('a', 'b', 'c');
const owner = fc.constantFrom('p', 'q');
const operation = fc.oneof(
  fc.record({ do: fc.constant('theirs' as const), name, owner }),
  fc.record({ do: fc.constant('ours' as const), name, owner }),
  fc.record({ do: fc.constant('oursSlowly' as const), name, owner }),
  fc.record({ do: fc.constant('answer' as const) }),
  fc.record({ do: fc.constant('theyDelete' as const), name, owner }),
  fc.record({ do: fc.constant('weDelete' as const), name, owner }),
  fc.record({ do: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('replay' as const), from: fc.nat(10), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant('bookmark' as const) }),
  fc.record({ do: fc.constant('relist' as const), name, owner, ours: fc.boolean() }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

function run(model: Model, step: Operation): void {
  switch (step.do) {
    case 'theirs':
      return void model.write(step.name, step.owner);
    case 'ours':
      return ours(model, step.name, step.owner);
    case 'oursSlowly':
      return void model.onTheWay.push(model.write(step.name, step.owner));
    case 'answer':
      return answered(model);
    case 'theyDelete':
      return void model.remove(step.name);
    case 'weDelete':
      return weDelete(model, step.name);
    case 'deliver':
      return model.deliver(step.count);
    case 'replay':
      return model.replay(step.from, step.count);
    case 'bookmark':
      return model.bookmark();
    case 'relist':
      return step.ours
        ? relistAround(model, step.name, step.owner)
        : model.relist(() => model.write(step.name, step.owner));
  }
}

function ours(model: Model, child: string, parent: string): void {
  const answer = model.write(child, parent);
  model.store.wrote(answer);
  const held = model.held().get(child);
  ok(
    held !== undefined && compareVersions(held, answer.metadata.resourceVersion ?? '') >= 0,
    'a write of ours is seen at once',
  );
}

/** The oldest answer that is still on its way arrives. */
function answered(model: Model): void {
  const answer = model.onTheWay.shift();
  if (answer) model.store.wrote(answer);
}

/** A write of ours while a list is on its way is younger than the list. */
function relistAround(model: Model, child: string, parent: string): void {
  model.relist(() => ours(model, child, parent));
  equal(model.held().get(child), model.live.get(child)?.metadata.resourceVersion);
}

function weDelete(model: Model, child: string): void {
  const gone = model.remove(child);
  if (gone) model.store.deleted(gone);
  if (gone)
    ok(model.store.get('ns', child)?.object.metadata.uid !== gone.metadata.uid, 'what we deleted is gone at once');
}

/** The index is what a scan of all entries would find. */
function checkIndex(model: Model): void {
  for (const parent of ['p', 'q']) {
    const scanned = [...model.store.all()].filter(({ object }) => object.metadata.labels?.[label.uid] === parent);
    deepEqual(names(model.store.ownedBy('ns', parent)), names(scanned));
  }
}

const names = (entries: { object: KubeObject }[]) => entries.map(({ object }) => object.metadata.name).toSorted();

describe('the cache against a naive model', () => {
  test('pitfall 10: our own writes are never forgotten, and in the end the cache is what the server is', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), (steps) => {
        const model = new Model();
        for (const step of steps) {
          model.clock.advance(1);
          run(model, step);
          checkIndex(model);
        }
        model.deliver(Infinity);
        while (model.onTheWay.length > 0) answered(model);
        deepEqual(
          model.held(),
          new Map([...model.live].map(([key, { metadata }]) => [key, metadata.resourceVersion ?? ''])),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('pitfall 8: an object never goes back in time within one watch session', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), (steps) => {
        const model = new Model();
        let before = new Map<string, string>();
        for (const step of steps) {
          run(model, step);
          const after = model.held();
          for (const [key, version] of after) {
            const former = before.get(key);
            if (former !== undefined && step.do !== 'relist')
              ok(compareVersions(version, former) >= 0, `${key} went from ${former} to ${version}`);
          }
          before = after;
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the echo of our own write is no news; a change by somebody else is', () => {
    const model = new Model();
    ours(model, 'a', 'p');
    model.deliver(1);
    model.write('a', 'p');
    model.deliver(1);
    deepEqual(
      model.changes.map(({ own }) => own),
      [true, false],
    );
  });

  test('an object that was replaced while nobody watched is a change of its UID', () => {
    const model = new Model();
    model.write('a', 'p');
    model.relist();
    model.remove('a');
    model.write('a', 'p');
    model.relist();
    const last = model.changes.at(-1);
    ok(last?.before && last.after);
    equal(last.before.metadata.uid === last.after.metadata.uid, false);
  });

  test('a restored etcd, whose history is younger than our writes, wins by a consistent list', () => {
    const model = new Model();
    ours(model, 'a', 'p');
    model.clock.advance(10);
    const feed = model.store.feed({ kind: ConfigMap, metadataOnly: false });
    feed.replace(new Map(), '50', model.clock.monotonic());
    equal(model.store.size, 0);
  });

  test('pitfall 7: a throwing handler is reported, and everybody else goes on', () => {
    const errors: unknown[] = [];
    const clock = fakeClock();
    const store = new Store({
      kind: ConfigMap,
      clock,
      onChange: () => {
        throw new Error('listener');
      },
      onListenerError: (error) => errors.push(error),
    });
    store.wrote({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1' },
    });
    equal(errors.length, 1);
    equal(store.size, 1);
  });
});
