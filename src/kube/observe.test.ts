import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../tests/kit/clock.ts';
import {
  clusterKindOf,
  ConfigMap,
  Job,
  type Kind,
  kindOf,
  type KubeObject,
  label,
  type ObjectMeta,
  Pod,
} from '../objects/index.ts';
import { Store } from './cache.ts';
import type { Owner } from './child.ts';
import { observe } from './observe.ts';

const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');
const Node = clusterKindOf('v1', 'Node', 'nodes');
const owner: Owner = {
  object: {
    apiVersion: Shop.apiVersion,
    kind: Shop.kind,
    metadata: { name: 'corner', namespace: 'street', uid: '1-1' },
  },
  kind: Shop,
  labelKind: 'Shop',
};

/** A store that holds objects with these metadata. */
function holding(kind: Kind, ...held: Partial<ObjectMeta>[]): Store {
  const store = new Store({ kind, clock: new FakeClock(), onChange: () => {}, onListenerError: () => {} });
  for (const [index, metadata] of held.entries())
    store.wrote({
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: {
        name: `n${index}`,
        namespace: 'street',
        uid: `u${index}`,
        resourceVersion: String(index + 1),
        ...metadata,
      },
    });
  return store;
}
const ofUid = (uid: string) => ({
  ownerReferences: [{ apiVersion: Shop.apiVersion, kind: 'Shop', name: 'corner', uid, controller: true }],
});
const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);
const none = { owned: [], labelled: [], read: [] };

describe('own children', () => {
  const owned = [
    holding(
      ConfigMap,
      { name: 'mine', ...ofUid('1-1') },
      { name: 'also-mine', labels: { [label.uid]: '1-1' } },
      { name: 'of-another', ...ofUid('2-2') },
      { name: 'claimed', ...ofUid('2-2'), labels: { [label.uid]: '1-1' } },
      { name: 'mine', namespace: 'alley', ...ofUid('1-1') },
      { name: 'forged', namespace: 'alley', labels: { [label.uid]: '1-1' } },
    ),
    holding(Job, { name: 'work', ...ofUid('1-1') }),
  ];
  const { seen } = observe(owner, { ...none, owned });

  test('of a kind that is not served are none, and that can be asked', () => {
    const store = holding(Job, { name: 'work', ...ofUid('1-1') });
    const { seen: without } = observe(owner, { ...none, owned: [store] });
    equal(without.serves(Job), true);
    store.feed({ kind: Job, metadataOnly: false }).absent();
    deepEqual([without.serves(Job), without.all(Job)], [false, []]);
  });

  test('are those that the object controls, else those with its UID, in the order of their names', () =>
    deepEqual(names(seen.all(ConfigMap)), ['also-mine', 'mine']));

  test('stand in its namespace, whatever somebody elsewhere wrote into owners and labels', () =>
    equal(seen.get(ConfigMap, 'mine')?.metadata.namespace, 'street'));

  test('of several kinds come kind by kind', () =>
    deepEqual(names(seen.all(Job, ConfigMap)), ['work', 'also-mine', 'mine']));

  test('are found by kind and name', () => {
    equal(seen.get(ConfigMap, 'mine')?.metadata.uid, 'u0');
    equal(seen.get(ConfigMap, 'of-another'), undefined);
    equal(seen.get(Job, 'mine'), undefined);
  });
});

test('labelled objects are those with the kind, the name and the namespace of the parent', () => {
  const marks = { [label.kind]: 'Shop', [label.name]: 'corner' };
  const pods = holding(
    Pod,
    { name: 'pod-b', labels: marks, ...ofUid('of-a-replicaset') },
    { name: 'pod-a', labels: marks },
    { name: 'elsewhere', labels: marks, namespace: 'alley' },
    { name: 'of-another', labels: { ...marks, [label.name]: 'station' } },
    { name: 'of-another-kind', labels: { ...marks, [label.kind]: 'Fair' } },
  );
  const { seen } = observe(owner, { ...none, labelled: [pods] });
  deepEqual(names(seen.labelled(Pod)), ['pod-a', 'pod-b']);
});

describe('reading', () => {
  const read = [
    holding(ConfigMap, { name: 'prices' }, { name: 'far', namespace: 'alley' }),
    holding(Node, { name: 'metal', namespace: '' }),
  ];

  test('finds what stands beside the object, or outside namespaces', () => {
    const { seen } = observe(owner, { ...none, read });
    deepEqual(
      [seen.read(ConfigMap, 'prices'), seen.read(ConfigMap, 'far'), seen.read(Node, 'metal')].map(
        (object) => object?.metadata.name,
      ),
      ['prices', undefined, 'metal'],
    );
  });

  test('is remembered, also when nothing was there', () => {
    const { seen, reads } = observe(owner, { ...none, read });
    deepEqual([...reads], []);
    seen.read(ConfigMap, 'prices');
    seen.read(ConfigMap, 'missing');
    seen.read(Node, 'metal');
    deepEqual([...reads], ['v1|ConfigMap|street/prices', 'v1|ConfigMap|street/missing', 'v1|Node|/metal']);
  });
});

describe('a view of each', () => {
  const nodes = holding(
    Node,
    { name: 'b', namespace: '', labels: { zone: 'x' } },
    { name: 'a', namespace: '', labels: { zone: 'y' } },
    { name: 'c', namespace: '' },
  );
  const zone = ({ metadata }: KubeObject) => metadata.labels?.['zone'];

  test('leaves out what it makes nothing of, keeps the order of names, and is remembered', () => {
    const { seen, views } = observe(owner, { ...none, read: [nodes] });
    deepEqual(seen.each(Node, zone), ['y', 'x']);
    deepEqual(views, [{ kind: Node, of: zone }]);
  });

  test('is not to be had where nothing outside namespaces is seen', () =>
    equal(observe(owner, none).seen.each(Node, zone), undefined));

  test('is refused in namespaces', () => throws(() => observe(owner, none).seen.each(Pod, zone), /in namespaces/));
});

describe('a kind that the definition does not name is refused, with the list that lacks it', () => {
  const { seen } = observe(owner, { owned: [holding(Job)], labelled: [holding(Job)], read: [holding(Job)] });
  const asks: [list: string, ask: () => unknown][] = [
    ['owns', () => seen.get(Pod, 'x')],
    ['owns', () => seen.all(Pod)],
    ['labelled', () => seen.labelled(Pod)],
    ['reads', () => seen.read(Pod, 'x')],
  ];
  for (const [list, ask] of asks)
    test(`${ask.toString().replace('() => ', '')} needs \`${list}\``, () =>
      throws(ask, { message: `Pod was asked for, but is not in \`${list}\` of the definition` }));
});
