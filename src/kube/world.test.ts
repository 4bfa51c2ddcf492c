import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../tests/kit/clock.ts';
import { clusterKindOf, ConfigMap, Deployment, type Kind, kindOf, Pod } from '../objects/index.ts';
import type { ControllerDefinition } from './define.ts';
import { World, type WorldOptions } from './world.ts';

const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');
const OldShop = kindOf('old.dev/v1', 'OldShop', 'oldshops');
const Fair = kindOf('test.baton.dev/v1', 'Fair', 'fairs');
const Node = clusterKindOf('v1', 'Node', 'nodes');

const defined = (kind: Kind, more: Partial<ControllerDefinition> = {}): ControllerDefinition => ({
  kind,
  owns: [],
  decide: () => ({ want: [], status: {} }),
  ...more,
});
const shop = defined(Shop, { owns: [ConfigMap, Deployment], labelled: [Pod] });
const fair = defined(Fair, { owns: [ConfigMap] });

const corner = { apiVersion: 'test.baton.dev/v1', kind: 'Shop', name: 'corner', uid: 'corner', controller: true };

/** A world in which everybody has asked for what their definition needs. */
function worldOf(definitions: ControllerDefinition[], options: Partial<WorldOptions> = {}) {
  const world = new World({
    definitions,
    namespaces: [],
    clock: new FakeClock(),
    onChange: () => {},
    onListenerError: () => {},
    ...options,
  });
  return {
    world,
    parents: definitions.map((definition) => world.parentsOf(definition)),
    stores: definitions.map((definition) => world.storesOf(definition)),
  };
}

/** The watches in short: `namespace/Kind selector`, with a word for metadata only. */
const watches = ({ world }: ReturnType<typeof worldOf>): string[] =>
  world
    .sources()
    .map(({ source: { kind, namespace, labelSelector, metadataOnly } }) =>
      [`${namespace ?? '*'}/${kind.kind}`, labelSelector, metadataOnly && '(metadata)'].filter(Boolean).join(' '),
    )
    .toSorted();

describe('the watches of a set of definitions', () => {
  const rows: {
    name: string;
    definitions: ControllerDefinition[];
    options?: Partial<WorldOptions>;
    needs: string[];
  }[] = [
    {
      name: 'parents all, children by the label of their parents',
      definitions: [shop],
      needs: [
        '*/ConfigMap baton.dev/kind in (Shop)',
        '*/Deployment baton.dev/kind in (Shop)',
        '*/Pod baton.dev/kind in (Shop)',
        '*/Shop',
      ],
    },
    {
      name: 'an alias of the kind too',
      definitions: [defined(Shop, { aliases: [OldShop] })],
      needs: ['*/OldShop', '*/Shop'],
    },
    {
      name: 'one watch for a kind that several own',
      definitions: [shop, fair],
      needs: [
        '*/ConfigMap baton.dev/kind in (Fair,Shop)',
        '*/Deployment baton.dev/kind in (Shop)',
        '*/Fair',
        '*/Pod baton.dev/kind in (Shop)',
        '*/Shop',
      ],
    },
    {
      name: 'one watch for a kind that is owned here and labelled there',
      definitions: [defined(Shop, { owns: [Pod] }), defined(Fair, { labelled: [Pod] })],
      needs: ['*/Fair', '*/Pod baton.dev/kind in (Fair,Shop)', '*/Shop'],
    },
    {
      name: 'one watch for a kind of which children are owned and others read',
      definitions: [defined(Shop, { owns: [Deployment], reads: [Deployment] }), defined(Fair, { owns: [Deployment] })],
      needs: ['*/Deployment', '*/Fair', '*/Shop'],
    },
    {
      name: "pitfall 12: other people's ConfigMaps by their metadata alone, own ones whole",
      definitions: [defined(Shop, { owns: [ConfigMap], reads: [ConfigMap] })],
      needs: ['*/ConfigMap (metadata)', '*/ConfigMap baton.dev/kind in (Shop)', '*/Shop'],
    },
    {
      name: 'a parent that somebody else reads is watched once',
      definitions: [shop, defined(Fair, { reads: [Shop] })],
      needs: [
        '*/ConfigMap baton.dev/kind in (Shop)',
        '*/Deployment baton.dev/kind in (Shop)',
        '*/Fair',
        '*/Pod baton.dev/kind in (Shop)',
        '*/Shop',
      ],
    },
    {
      name: 'the chosen parents only, and whatever is read all the same',
      definitions: [defined(Shop), defined(Fair, { reads: [Shop] })],
      options: { parentSelector: 'engine=v1' },
      needs: ['*/Fair engine=v1', '*/Shop', '*/Shop engine=v1'],
    },
    {
      name: 'each namespace by itself, and nothing of what has none: Roles do not reach it',
      definitions: [defined(Shop, { owns: [Deployment], reads: [Node] })],
      options: { namespaces: ['alley', 'street'] },
      needs: [
        'alley/Deployment baton.dev/kind in (Shop)',
        'alley/Shop',
        'street/Deployment baton.dev/kind in (Shop)',
        'street/Shop',
      ],
    },
  ];
  for (const { name, definitions, options, needs } of rows)
    test(name, () => deepEqual(watches(worldOf(definitions, options)), needs));
});

test('what a cluster need not serve is looked for as often as the most impatient one asks', () => {
  const lacking = (noticedWithin: number) => ({ owns: [Deployment], mayLack: [{ kind: Deployment, noticedWithin }] });
  const { world } = worldOf([defined(Shop, lacking(9_000)), defined(Fair, lacking(3_000))]);
  deepEqual(
    world.sources().map(({ source: { kind, noticedWithin } }) => [kind.kind, noticedWithin]),
    [
      ['Shop', undefined],
      ['Fair', undefined],
      ['Deployment', 3_000],
    ],
  );
});

describe('stores', () => {
  test('are shared by all who need the same of a kind', () => {
    const { stores } = worldOf([shop, fair]);
    equal(stores[0]?.owned[0], stores[1]?.owned[0]);
  });

  test('are apart for what is owned and what is read', () => {
    const { stores } = worldOf([defined(Shop, { owns: [ConfigMap], reads: [ConfigMap] })]);
    notEqual(stores[0]?.owned[0], stores[0]?.read[0]);
  });

  test('are one for what is owned and read whole, in which an owner alone makes no child', () => {
    const { stores } = worldOf([defined(Shop, { owns: [Deployment], reads: [Deployment] })]);
    const [owned] = stores[0]?.owned ?? [];
    equal(owned, stores[0]?.read[0]);
    const made = (name: string, labels: Record<string, string>) =>
      owned?.wrote({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, namespace: 'alley', uid: name, resourceVersion: '1', labels, ownerReferences: [corner] },
      });
    made('till', { 'baton.dev/kind': 'Shop' });
    made('lent', {});
    deepEqual(
      owned?.ownedBy('alley', 'corner').map(({ object }) => object.metadata.name),
      ['till'],
    );
    equal(owned?.get('alley', 'lent')?.object.metadata.name, 'lent');
  });

  test('of the parents are found by kind and alias', () => {
    const { parents } = worldOf([defined(Shop, { aliases: [OldShop] })]);
    deepEqual(
      [...(parents[0] ?? [])].map(([kind, store]) => [kind.kind, store.kind.kind]),
      [
        ['Shop', 'Shop'],
        ['OldShop', 'OldShop'],
      ],
    );
  });

  test('of several namespaces are one store, synced when all its watches are', () => {
    const { world } = worldOf([defined(Shop)], { namespaces: ['alley', 'street'] });
    const [alley, street] = world.sources();
    equal(alley?.store, street?.store);
    const feeds = [alley, street].map((one) => one?.store.feed(one.source));
    feeds[0]?.replace(new Map(), '1', 0);
    equal(alley?.store.synced, false);
    feeds[1]?.replace(new Map(), '1', 0);
    equal(alley?.store.synced, true);
  });

  test('tell the world of their changes', () => {
    const kinds: string[] = [];
    const { world } = worldOf([defined(Shop)], { onChange: ({ store }) => kinds.push(store.kind.kind) });
    const [shops] = world.sources();
    shops?.store.wrote({ apiVersion: '', kind: 'Shop', metadata: { name: 'corner', resourceVersion: '1' } });
    deepEqual(kinds, ['Shop']);
  });
});
