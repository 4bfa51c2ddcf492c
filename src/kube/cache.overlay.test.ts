// Single moments of the overlay, where a model of everything would hide them: an answer and an event cross on the way,
// and one of them is old.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../tests/kit/clock.ts';
import { ConfigMap, type KubeObject, type ObjectMeta } from '../objects/index.ts';
import { Store } from './cache.ts';
import { keyOf } from './follow.ts';
import type { WatchEvent } from './parse.ts';

const object = (version: number, more: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'ns', uid: 'one', resourceVersion: String(version), ...more },
});
const entry = (version: number, more: Partial<ObjectMeta> = {}) => ({
  object: object(version, more),
  hand: 'none' as const,
});
type Change = Extract<WatchEvent, { entry: unknown }>;
const modified = (version: number, more: Partial<ObjectMeta> = {}): Change => ({
  type: 'MODIFIED',
  entry: entry(version, more),
});
const gone = (version: number, more: Partial<ObjectMeta> = {}): Change => ({
  type: 'DELETED',
  entry: entry(version, more),
});

/** A store with a whole view of these objects, and what it told since. */
function holding(...entries: ReturnType<typeof entry>[]) {
  const told: string[] = [];
  const clock = new FakeClock();
  const store = new Store({
    kind: ConfigMap,
    clock,
    onChange: ({ before, after, own }) =>
      told.push(
        `${own ? 'own ' : ''}${before?.metadata.resourceVersion ?? '-'} to ${after?.metadata.resourceVersion ?? '-'}`,
      ),
    onListenerError: () => {},
  });
  const feed = store.feed({ kind: ConfigMap, metadataOnly: false });
  feed.replace(new Map(entries.map((one) => [keyOf(one), one])), '10', clock.monotonic());
  told.length = 0;
  return { store, feed, told, clock, held: () => store.get('ns', 'a')?.object.metadata.resourceVersion };
}

describe('the answer to a write', () => {
  test('that the watch has overtaken is dropped', () => {
    const { store, feed, told, held } = holding(entry(5));
    feed.changed(modified(13));
    store.wrote(object(12));
    deepEqual([held(), told], ['13', ['5 to 13']]);
  });

  test('that the watch was faster with is no second change', () => {
    const { store, feed, told } = holding(entry(5));
    feed.changed(modified(12));
    store.wrote(object(12));
    deepEqual(told, ['5 to 12']);
  });

  test('is not undone by events from before it', () => {
    const { store, feed, told, held } = holding(entry(5));
    store.wrote(object(12));
    feed.changed(modified(11));
    equal(held(), '12');
    feed.changed(modified(12));
    deepEqual([held(), told], ['12', ['own 5 to 12']]);
  });

  test("gives way to somebody's later change", () => {
    const { store, feed, told } = holding(entry(5));
    store.wrote(object(12));
    feed.changed(modified(14));
    deepEqual(told, ['own 5 to 12', '12 to 14']);
  });

  test('of an object that the watch passes without a word was a phantom', () => {
    const { store, feed, told, held } = holding();
    store.wrote(object(12));
    feed.passed('11');
    equal(held(), '12', 'the watch may still bring it');
    feed.passed('12');
    deepEqual([held(), told], [undefined, ['own - to 12', '12 to -']]);
  });

  test('that the watch has confirmed is no phantom', () => {
    const { store, feed, held } = holding();
    store.wrote(object(12));
    feed.changed({ type: 'ADDED', entry: entry(12) });
    feed.passed('20');
    equal(held(), '12');
  });
});

describe('a deletion of ours', () => {
  test('is not undone by events from before it', () => {
    const { store, feed, told, held } = holding(entry(5));
    store.deleted(object(5));
    feed.changed(modified(11));
    equal(held(), undefined);
    feed.changed(gone(12));
    deepEqual([held(), told], [undefined, ['own 5 to -']]);
  });

  test('of which the watch says that it is still going on is no deletion yet', () => {
    const { store, feed, held } = holding(entry(5));
    store.deleted(object(5));
    feed.changed(modified(11, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    equal(held(), '11');
  });

  test('gives way to a new object under the name', () => {
    const { store, feed, held } = holding(entry(5));
    store.deleted(object(5));
    feed.changed({ type: 'ADDED', entry: entry(13, { uid: 'two' }) });
    equal(held(), '13');
  });

  test('of an object that was replaced meanwhile changes nothing', () => {
    const { store, feed, held } = holding(entry(5));
    feed.changed(modified(13, { uid: 'two' }));
    store.deleted(object(5));
    equal(held(), '13');
  });
});

describe('a watch of one namespace', () => {
  /** Two namespaces, each with an object and a watch. */
  function two() {
    const it = holding();
    const feeds = ['left', 'right'].map((namespace) =>
      it.store.feed({ kind: ConfigMap, namespace, metadataOnly: false }),
    );
    for (const [index, namespace] of ['left', 'right'].entries()) {
      const one = entry(5, { namespace });
      feeds[index]?.replace(new Map([[keyOf(one), one]]), '10', it.clock.monotonic());
    }
    const names = () => [...it.store.all()].map(({ object: { metadata } }) => metadata.namespace);
    return { ...it, left: feeds[0], names };
  }

  test('replaces its own view and no other', () => {
    const { left, names, clock } = two();
    left?.replace(new Map(), '20', clock.monotonic());
    deepEqual(names(), ['right']);
  });

  test('says nothing of writes in another', () => {
    const { store, left, names } = two();
    store.wrote(object(12, { namespace: 'right' }));
    left?.passed('20');
    deepEqual(names(), ['left', 'right']);
  });
});
