import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { clusterKindOf, kindOf, type KubeObject, label, type ObjectMeta } from '../objects/index.ts';
import { keyFrom, keyOfObject, keyText, parentsOf, Subscriptions } from './routes.ts';

const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');
const Old = kindOf('old.dev/v1', 'OldShop', 'oldshops');
const kinds = [Shop, Old];

describe('a key', () => {
  test('as text tells kinds, namespaces and names apart, and is readable', () =>
    equal(keyText({ kind: Shop, namespace: 'street', name: 'corner' }), 'test.baton.dev/v1|Shop|street/corner'));

  test('comes back from its text', () => {
    const part = fc.stringMatching(/^[a-z0-9.-]{0,10}$/);
    fc.assert(
      fc.property(fc.constantFrom(...kinds), part, part, (kind, namespace, name) =>
        deepEqual(keyFrom(keyText({ kind, namespace, name }), kinds), { kind, namespace, name }),
      ),
    );
  });

  test('of another controller is refused', () =>
    throws(() => keyFrom('v1|Pod|street/corner', kinds), {
      message: 'v1|Pod|street/corner is not a key of this controller',
    }));

  test('of an object outside namespaces has an empty one', () =>
    deepEqual(keyOfObject(Shop, { apiVersion: '', kind: '', metadata: { name: 'x' } }), {
      kind: Shop,
      namespace: '',
      name: 'x',
    }));
});

const owner = (kind: string, name: string, more: object = {}) => ({
  apiVersion: kind === 'Shop' ? Shop.apiVersion : kind === 'OldShop' ? Old.apiVersion : 'apps/v1',
  kind,
  name,
  uid: '1',
  controller: true,
  ...more,
});
const labels = { [label.kind]: 'Shop', [label.name]: 'labelled' };

const cases: { name: string; metadata: Partial<ObjectMeta>; parents: string[] }[] = [
  {
    name: 'a child, by its controller',
    metadata: { ownerReferences: [owner('Shop', 'corner')] },
    parents: ['Shop corner'],
  },
  {
    name: 'a child of an alias, by its controller',
    metadata: { ownerReferences: [owner('OldShop', 'corner')], labels },
    parents: ['OldShop corner'],
  },
  {
    name: 'the controller counts more than the labels',
    metadata: { ownerReferences: [owner('Shop', 'corner')], labels },
    parents: ['Shop corner'],
  },
  {
    name: 'a pod of a ReplicaSet, by its labels, for the kind and its alias',
    metadata: { ownerReferences: [owner('ReplicaSet', 'corner-1')], labels },
    parents: ['Shop labelled', 'OldShop labelled'],
  },
  {
    name: 'a child that lost its owner, by its labels',
    metadata: { labels },
    parents: ['Shop labelled', 'OldShop labelled'],
  },
  {
    name: 'an owner that does not control is no parent',
    metadata: { ownerReferences: [owner('Shop', 'corner', { controller: false })] },
    parents: [],
  },
  {
    name: 'an owner of the same kind in another group is no parent',
    metadata: { ownerReferences: [owner('Shop', 'corner', { apiVersion: 'other.dev/v1' })] },
    parents: [],
  },
  { name: 'labels of another kind', metadata: { labels: { ...labels, [label.kind]: 'Fair' } }, parents: [] },
  { name: 'labels without a name', metadata: { labels: { [label.kind]: 'Shop' } }, parents: [] },
  { name: 'no marks at all', metadata: {}, parents: [] },
];

describe('whom a change concerns', () => {
  for (const { name, metadata, parents } of cases)
    test(`${name}: ${parents.join(', ') || 'nobody'}`, () => {
      const object: KubeObject = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', namespace: 'street', ...metadata },
      };
      const found = parentsOf(object, kinds);
      deepEqual(
        found.map(({ kind, name: parent }) => `${kind.kind} ${parent}`),
        parents,
      );
      deepEqual(new Set(found.map(({ namespace }) => namespace)), new Set(parents.length > 0 ? ['street'] : []));
    });
});

describe('subscriptions', () => {
  const readers = (subscriptions: Subscriptions, source: string) => [...subscriptions.readersOf(source)].toSorted();

  test('whoever read an object is told of it, until another pass reads something else', () => {
    const subscriptions = new Subscriptions();
    subscriptions.set('a', new Set(['x', 'y']));
    subscriptions.set('b', new Set(['y']));
    deepEqual([readers(subscriptions, 'x'), readers(subscriptions, 'y')], [['a'], ['a', 'b']]);
    subscriptions.set('a', new Set(['y', 'z']));
    deepEqual(
      ['x', 'y', 'z'].map((source) => readers(subscriptions, source)),
      [[], ['a', 'b'], ['a']],
    );
  });

  test('are what the last pass of each key read, whatever came before', () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const step = fc.record({ key, sources: fc.uniqueArray(fc.constantFrom('x', 'y', 'z')) });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const subscriptions = new Subscriptions();
        const model = new Map<string, string[]>();
        for (const { key: reader, sources } of steps) {
          subscriptions.set(reader, new Set(sources));
          model.set(reader, sources);
        }
        for (const source of ['x', 'y', 'z'])
          deepEqual(
            readers(subscriptions, source),
            [...model]
              .filter(([, sources]) => sources.includes(source))
              .map(([reader]) => reader)
              .toSorted(),
          );
      }),
    );
  });
});

describe('views', () => {
  const Lamp = clusterKindOf('test.baton.dev/v1', 'Lamp', 'lamps');
  const lamp = (color: string, dust: string): KubeObject => ({
    apiVersion: Lamp.apiVersion,
    kind: Lamp.kind,
    metadata: { name: 'a', labels: { color, dust } },
  });
  const colors = { kind: Lamp, of: ({ metadata }: KubeObject) => metadata.labels?.['color'] };
  const reds = { kind: Lamp, of: ({ metadata }: KubeObject) => (metadata.labels?.['color'] === 'red' ? 1 : undefined) };

  test('wake those alone to whom an object looks otherwise', () => {
    const subscriptions = new Subscriptions();
    subscriptions.set('all', new Set(), [colors]);
    subscriptions.set('reds', new Set(), [reds]);
    const woken = (before?: KubeObject, after?: KubeObject) => subscriptions.viewersOf(Lamp, before, after);
    deepEqual(woken(lamp('red', '1'), lamp('red', '2')), []);
    deepEqual(woken(lamp('blue', '1'), lamp('green', '1')), ['all']);
    deepEqual(woken(lamp('blue', '1'), lamp('red', '1')), ['all', 'reds']);
    deepEqual(woken(undefined, lamp('red', '1')), ['all', 'reds']);
    deepEqual(woken(lamp('blue', '1')), ['all']);
    subscriptions.set('all', new Set());
    deepEqual(woken(lamp('blue', '1')), [], 'what is no more looked at');
  });
});
