import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotation, kindOf, type KubeObject, label, type ObjectMeta } from '../objects/index.ts';
import { dress, isMarked, isOurs, nameOf, type Owner } from './child.ts';

const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');
const owner: Owner = {
  object: {
    apiVersion: Shop.apiVersion,
    kind: Shop.kind,
    metadata: { name: 'corner', namespace: 'street', uid: '1-1' },
  },
  kind: Shop,
  labelKind: 'Shop',
};
const marks = { [label.kind]: 'Shop', [label.name]: 'corner', [label.uid]: '1-1' };
const reference = {
  apiVersion: 'test.baton.dev/v1',
  kind: 'Shop',
  name: 'corner',
  uid: '1-1',
  controller: true,
  blockOwnerDeletion: true,
};
const theirs = { ...reference, name: 'other', uid: '2-2' };

const object = (metadata: Partial<ObjectMeta> = {}, kind = 'ConfigMap'): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'corner-config', ...metadata },
});
const hash = (child: KubeObject, of = owner) => dress(child, of).metadata.annotations?.[annotation.desired];

describe('a child as it is written', () => {
  test('stands in the namespace of its parent, whatever the controller said', () =>
    equal(dress(object({ namespace: 'elsewhere' }), owner).metadata.namespace, 'street'));

  test('is labelled and owned, beside its own labels and annotations', () => {
    const { metadata } = dress(object({ labels: { team: 'x' }, annotations: { note: 'y' } }), owner);
    deepEqual(metadata.labels, { team: 'x', ...marks });
    deepEqual(metadata.ownerReferences, [reference]);
    equal(metadata.annotations?.['note'], 'y');
  });

  test('cannot be given to somebody else by its own labels or owners', () => {
    const { metadata } = dress(object({ labels: { [label.uid]: '9-9' }, ownerReferences: [theirs] }), owner);
    deepEqual([metadata.labels, metadata.ownerReferences], [marks, [reference]]);
  });

  test('of an alias has the alias as its owner and the first name of the kind as its label', () => {
    const Old = kindOf('old.dev/v1', 'OldShop', 'oldshops');
    const { metadata } = dress(object(), { ...owner, kind: Old });
    equal(metadata.ownerReferences?.[0]?.kind, 'OldShop');
    equal(metadata.labels?.[label.kind], 'Shop');
  });

  test('that outlives its parent has labels and no owner', () => {
    const { metadata } = dress(object({ labels: { [label.retained]: 'r1' } }, 'PersistentVolumeClaim'), owner);
    equal(metadata.ownerReferences, undefined);
    equal(metadata.labels?.[label.uid], '1-1');
  });

  test('leaves what the controller gave untouched', () => {
    const child = object({ labels: { team: 'x' } });
    dress(child, owner);
    deepEqual(child, object({ labels: { team: 'x' } }));
  });
});

describe('the hash of what is wanted', () => {
  test('is the same for the same wish', () =>
    equal(
      hash({ ...object(), data: { a: '1', b: '2' } } as KubeObject),
      hash({ ...object(), data: { b: '2', a: '1' } } as KubeObject),
    ));

  const other: [name: string, child: KubeObject, of?: Owner][] = [
    ['field', { ...object(), data: { a: '1' } } as KubeObject],
    ['label', object({ labels: { team: 'x' } })],
    ['annotation', object({ annotations: { note: 'y' } })],
    ['owner', object(), { ...owner, object: { ...owner.object, metadata: { name: 'corner', uid: '3-3' } } }],
  ];
  for (const [name, child, of] of other)
    test(`is another with another ${name}`, () => notEqual(hash(child, of), hash(object())));
});

const claim = (metadata: Partial<ObjectMeta>) => object(metadata, 'PersistentVolumeClaim');
const retained = { [label.retained]: 'r1' };

const judgements: { name: string; live: KubeObject; wanted?: KubeObject; ours: boolean }[] = [
  { name: 'controlled by the parent', live: object({ ownerReferences: [reference] }), ours: true },
  {
    name: 'controlled by the parent, and labelled for another',
    live: object({ ownerReferences: [reference], labels: { [label.uid]: '2-2' } }),
    ours: true,
  },
  { name: 'controlled by somebody else', live: object({ ownerReferences: [theirs] }), ours: false },
  {
    name: 'controlled by somebody else, though it has our labels',
    live: object({ ownerReferences: [theirs], labels: marks }),
    ours: false,
  },
  {
    name: 'controlled by a former parent of the same name',
    live: object({ ownerReferences: [{ ...reference, uid: '0-0' }], labels: { ...marks, [label.uid]: '0-0' } }),
    ours: false,
  },
  { name: 'with our UID in its label and no controller', live: object({ labels: marks }), ours: true },
  {
    name: 'with our UID in its label and an owner that does not control',
    live: object({ labels: marks, ownerReferences: [{ ...theirs, controller: false }] }),
    ours: true,
  },
  {
    name: 'with our name and kind in its labels but another UID',
    live: object({ labels: { ...marks, [label.uid]: '0-0' } }),
    ours: false,
  },
  { name: 'without any mark', live: object(), ours: false },
  {
    name: 'a retained claim of the wanted revision',
    live: claim({ labels: { ...retained, [label.uid]: '0-0' } }),
    wanted: claim({ labels: retained }),
    ours: true,
  },
  {
    name: 'a retained claim of another revision',
    live: claim({ labels: { [label.retained]: 'r0' } }),
    wanted: claim({ labels: retained }),
    ours: false,
  },
  {
    name: 'a retained claim of the wanted revision, which is not to stay any more',
    live: claim({ labels: { ...retained, [label.uid]: '0-0' } }),
    wanted: claim({ labels: { weights: 'r1' } }),
    ours: true,
  },
  {
    name: 'a claim of the wanted revision that was not retained',
    live: claim({ labels: { weights: 'r1', [label.uid]: '0-0' } }),
    wanted: claim({ labels: { weights: 'r1', ...retained } }),
    ours: false,
  },
  {
    name: 'a retained claim of no revision that is wanted',
    live: claim({ labels: retained }),
    wanted: claim({}),
    ours: false,
  },
  {
    name: 'a retained claim that somebody else controls',
    live: claim({ labels: retained, ownerReferences: [theirs] }),
    wanted: claim({ labels: retained }),
    ours: false,
  },
  {
    name: 'something retained that is no claim',
    live: object({ labels: retained }),
    wanted: object({ labels: retained }),
    ours: false,
  },
];

describe('an object under a wanted name', () => {
  for (const { name, live, wanted = object(), ours } of judgements)
    test(`${name}: ${ours ? 'ours' : "a stranger's"}`, () => equal(isOurs(live, wanted, owner), ours));
});

describe('the marks by which a child is found again', () => {
  const whole = { labels: { ...marks, team: 'x' }, ownerReferences: [{ ...theirs, controller: false }, reference] };
  test('are all there', () => equal(isMarked(object(whole), object(), owner), true));

  for (const lost of [label.kind, label.name, label.uid])
    test(`lack the label ${lost}`, () => {
      const labels = Object.fromEntries(Object.entries(whole.labels).filter(([key]) => key !== lost));
      equal(isMarked(object({ ...whole, labels }), object(), owner), false);
    });

  test('lack the owner', () => equal(isMarked(object({ labels: marks }), object(), owner), false));

  test('lack nothing on a retained claim without an owner', () =>
    equal(isMarked(claim({ labels: { ...marks, ...retained } }), claim({ labels: retained }), owner), true));

  test('are wrong on a claim that is to stay and has an owner, and the other way round', () => {
    equal(isMarked(claim(whole), claim({ labels: retained }), owner), false);
    equal(isMarked(claim({ ...whole, labels: { ...whole.labels, ...retained } }), claim({}), owner), false);
    equal(isMarked(claim({ labels: { ...marks, ...retained } }), claim({}), owner), false);
  });
});

test('an object is named as a person would', () => equal(nameOf(object()), 'ConfigMap corner-config'));
