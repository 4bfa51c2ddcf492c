// How a first view builds up: its objects are in the store before it is whole, and that must never show.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigMap, type KubeObject, label } from '../objects/index.ts';
import { type Change, Store } from './cache.ts';
import { Follower } from './follow.ts';
import type { WatchEvent } from './parse.ts';

function setUp() {
  const changes: Change[] = [];
  const clock = { now: () => 0, monotonic: () => 0, after: () => () => {} };
  const options = { kind: ConfigMap, clock, onChange: (change: Change) => changes.push(change) };
  const store = new Store({ ...options, onListenerError: () => {} });
  const feed = store.feed({ kind: ConfigMap, metadataOnly: false });
  return { store, changes, session: () => new Follower(feed, 0, undefined) };
}

const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'ns',
    uid: `uid-${name}`,
    resourceVersion,
    labels: { [label.kind]: 'Trio', [label.name]: 'parent', [label.uid]: 'parent-uid' },
  },
});
const event = (type: 'ADDED' | 'DELETED', name: string, version: string): WatchEvent => ({
  type,
  entry: { object: object(name, version), hand: 'none' },
});
const end: WatchEvent = { type: 'BOOKMARK', resourceVersion: '50', endsInitial: true };
const names = (store: Store) => [...store.all()].map(({ object: { metadata } }) => metadata.name).toSorted();

describe('the first view', () => {
  test('is told object by object, each once, and synced only at its end', () => {
    const { store, changes, session } = setUp();
    const follower = session();
    follower.take(event('ADDED', 'a', '1'));
    follower.take(event('ADDED', 'b', '2'));
    equal(changes.length, 2);
    equal(store.synced, false);
    follower.take(end);
    equal(changes.length, 2);
    equal(store.synced, true);
  });

  test('that breaks off leaves nothing behind that the next one does not have', () => {
    const { store, session } = setUp();
    const broken = session();
    for (const name of ['a', 'b', 'c']) broken.take(event('ADDED', name, '1'));
    equal(store.synced, false);
    const whole = session();
    whole.take(event('ADDED', 'b', '1'));
    whole.take(event('ADDED', 'c', '7'));
    whole.take(end);
    deepEqual(names(store), ['b', 'c']);
    equal(store.get('ns', 'c')?.object.metadata.resourceVersion, '7');
  });

  test('may lose an object again before it is whole', () => {
    const { store, session } = setUp();
    const follower = session();
    follower.take(event('ADDED', 'a', '1'));
    follower.take(event('DELETED', 'a', '2'));
    follower.take(end);
    deepEqual(names(store), []);
  });

  test('does not undo a write that was made meanwhile', () => {
    const { store, session } = setUp();
    const follower = session();
    store.wrote(object('a', '60'));
    follower.take(event('ADDED', 'a', '1'));
    equal(store.get('ns', 'a')?.object.metadata.resourceVersion, '60');
    follower.take(end);
    equal(store.get('ns', 'a')?.object.metadata.resourceVersion, '60');
  });
});

test('objects are found by our labels, those that came before the first question and those that come after', () => {
  const { store, session } = setUp();
  const follower = session();
  const found = () =>
    store
      .labelledFor('Trio', 'ns', 'parent')
      .map(({ object: { metadata } }) => metadata.name)
      .toSorted();
  follower.take(event('ADDED', 'a', '1'));
  follower.take(end);
  deepEqual(found(), ['a']);
  follower.take(event('ADDED', 'b', '51'));
  deepEqual(found(), ['a', 'b']);
  follower.take(event('DELETED', 'a', '52'));
  deepEqual(found(), ['b']);
});
