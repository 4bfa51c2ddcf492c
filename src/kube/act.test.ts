// What holds up what: a wish that is apart from Ready may be refused, and everything else goes on. The client leads
// nowhere: a refusal comes from what is held, and a request that is tried shows in the error that it gives.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../tests/kit/clock.ts';
import { ConfigMap, type Kind, kindOf, type KubeObject, Service } from '../objects/index.ts';
import { act, missingBy } from './act.ts';
import { Store } from './cache.ts';
import { dress } from './child.ts';
import { ApiError, Client } from './client/index.ts';
import { apart, apply, type Desired } from './define.ts';

const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');

const named = (kind: Kind, name: string): KubeObject => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name },
});
const stranger = (kind: Kind, name: string): KubeObject => ({
  ...named(kind, name),
  metadata: { name, namespace: 'street', uid: `uid-${name}`, resourceVersion: '1' },
});

const conditions = ['Ready', 'Shown'].map((type) => ({
  type,
  status: 'True' as const,
  reason: 'Open',
  message: '',
  observedGeneration: 1,
}));
const shop = { ...stranger(Shop, 'corner'), status: { conditions } };
shop.metadata.generation = 1;
const owner = { object: shop, kind: Shop, labelKind: 'Shop' };

/** A child of the shop, as it was made. */
function own(kind: Kind, name: string): KubeObject {
  const dressed = dress(named(kind, name), owner);
  return { ...dressed, metadata: { ...dressed.metadata, uid: `uid-${name}`, resourceVersion: '1' } };
}

/** What a pass tries in a world of these objects, and what becomes of it. */
async function acted(want: Desired[], ...held: KubeObject[]) {
  const clock = new FakeClock();
  const nowhere = { server: 'http://127.0.0.1:1', credential: () => ({ headers: [], tls: {} }) };
  const stores = [ConfigMap, Service].map(
    (kind) => new Store({ kind, clock, onChange: () => {}, onListenerError: () => {} }),
  );
  for (const object of held) stores.find(({ kind }) => kind.kind === object.kind)?.found(object);
  const tried: string[] = [];
  const writes = (child: KubeObject) => void tried.push(`${child.kind} ${child.metadata.name}`);
  const client = new Client({ cluster: nowhere, clock });
  const { refused, apart: setbacks } = await act(want, { client, owner, stores, writes });
  const told = setbacks.map(({ condition, refusal }) => `${condition}: ${refusal.reason}`);
  return { tried, told, refused, cause: (wish: Desired) => missingBy(wish, { owner, stores }) };
}

const window = apart('Shown', apply(named(ConfigMap, 'window')));
const asked = (...wishes: Desired[]) => [...wishes, apply(named(ConfigMap, 'till'))];

describe('a wish that is apart and refused', () => {
  test('holds up nothing behind it, and is told with its condition', async () => {
    const { told, refused } = await acted(asked(window), stranger(ConfigMap, 'window'));
    deepEqual([told, refused instanceof ApiError], [['Shown: OwnershipConflict'], true]);
  });

  test('as one that is not apart does', async () => {
    const wish = apply(named(ConfigMap, 'window'));
    const { tried, told, refused } = await acted(asked(wish), stranger(ConfigMap, 'window'));
    deepEqual([tried, told, (refused as { reason?: string }).reason], [[], [], 'OwnershipConflict']);
  });

  test('is no end of the pass: what nobody wants goes', async () => {
    const { refused } = await acted([window], stranger(ConfigMap, 'window'), own(ConfigMap, 'sign'));
    equal(refused instanceof ApiError, true, 'the parent is looked at before something is deleted');
  });

  test('leaves in place what it should replace', async () => {
    const { refused } = await acted([window], stranger(ConfigMap, 'window'), own(Service, 'window'));
    equal(refused, undefined);
  });

  test('is no write: only what was done is told', async () => {
    const { tried, refused } = await acted([window]);
    deepEqual([tried, refused instanceof ApiError], [[], true]);
  });
});

describe('what is missing was taken away', () => {
  test('where the condition that tells of it held, and nothing else stands in its place', async () => {
    const { cause } = await acted([]);
    equal(cause(window), 'drift');
    equal(cause(apply(named(ConfigMap, 'till'))), 'drift');
    equal(cause(apart('Sold', apply(named(ConfigMap, 'window')))), 'asked', 'it was never said to be there');
  });

  test('but not where it replaces what is there still, as after another setting', async () => {
    const { cause } = await acted([apply(named(Service, 'window'))], own(Service, 'window'));
    equal(cause(window), 'asked');
  });
});
