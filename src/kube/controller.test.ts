// What reaches the queue, and what a pass does in a world that is already as wanted: nothing. The client leads nowhere,
// so a single request would fail the pass; everything that needs an answer is tested on the real API server.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../tests/kit/clock.ts';
import { makeLog } from '../base/index.ts';
import { ConfigMap, type Kind, kindOf, type KubeObject, label, type ObjectMeta, Pod } from '../objects/index.ts';
import type { Store } from './cache.ts';
import { dress } from './child.ts';
import { Circuit } from './circuit.ts';
import { Client, readerOf } from './client/index.ts';
import { Controller } from './controller.ts';
import { apply, type ControllerDefinition, keep } from './define.ts';
import { Gatherer } from './gather.ts';
import { NotLeading } from './lease.ts';
import { Refusal, Stale } from './refusal.ts';
import { Subscriptions } from './routes.ts';
import { World } from './world.ts';

const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');
const OldShop = kindOf('old.dev/v1', 'OldShop', 'oldshops');
const status = { observedGeneration: 1, phase: 'Open', conditions: [] };

const definition: ControllerDefinition = {
  kind: Shop,
  aliases: [OldShop],
  owns: [ConfigMap],
  labelled: [Pod],
  reads: [ConfigMap],
  decide: ({ seen }) => ({ want: seen.all(ConfigMap).map(keep), status }),
};

/** Every pass asks for its facts, or gives them up: here is who had its turn. */
class Turns extends Gatherer {
  readonly order: string[] = [];
  override facts(...[key, object, seen]: Parameters<Gatherer['facts']>): ReturnType<Gatherer['facts']> {
    this.order.push(object.metadata.name);
    return super.facts(key, object, seen);
  }
  override forget(key: string): void {
    this.order.push(key.split('/').at(-1) ?? '');
    super.forget(key);
  }
}

/** One controller with all that it needs, in a world that the test writes. */
function controlled(more: Partial<ControllerDefinition> = {}) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = makeLog({ level: 'info', format: 'text', now: () => 0, write: (line) => void lines.push(line) });
  const defined = { ...definition, ...more };
  const onChange = (change: Parameters<Controller['changed']>[0]) => controller.changed(change);
  const world = new World({ definitions: [defined], namespaces: [], clock, onChange, onListenerError: () => {} });
  const nowhere = { server: 'http://127.0.0.1:1', credential: () => ({ headers: [], tls: {} }) };
  const client = new Client({ cluster: nowhere, clock });
  const passes: string[] = [];
  let forbidden = 0;
  const gatherer = new Turns({
    facts: {},
    tools: { kube: readerOf(client), clients: {} },
    clock,
    random: () => 0.5,
    wake: () => {},
    parallel: 1,
    backoff: { first: 1, most: 1 },
  });
  const [parents, stores] = [world.parentsOf(defined), world.storesOf(defined)];
  const controller: Controller = new Controller({
    bench: {
      definition: defined,
      client,
      reader: readerOf(client),
      clients: {},
      parents,
      stores,
      subscriptions: new Subscriptions(),
      gatherer,
      circuit: new Circuit({ clock }),
      clock,
      log,
      signal: new AbortController().signal,
    },
    workers: 1,
    clock,
    random: () => 0.5,
    log,
    forbidden: () => void forbidden++,
    passed: (result) => passes.push(result),
  });
  const store = (list: readonly Store[]): Store => list[0] ?? never();
  const known = { shops: parents.get(Shop) ?? never(), configs: store(stores.owned), pods: store(stores.labelled) };
  return {
    controller,
    clock,
    world,
    lines,
    passes,
    order: gatherer.order,
    forbidden: () => forbidden,
    ...known,
    prices: store(stores.read),
    old: parents.get(OldShop),
  };
}

const never = (): never => {
  throw new Error('it is not there');
};

let version = 0;
const object = (kind: Kind, name: string, metadata: Partial<ObjectMeta> = {}, more: object = {}): KubeObject => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name, namespace: 'street', uid: `uid-${name}`, resourceVersion: String(++version), ...metadata },
  ...more,
});
/** Somebody else wrote or deleted the object, and the watch says so. */
const news = (store: Store, type: 'MODIFIED' | 'DELETED', one: KubeObject) =>
  store.feed({ kind: store.kind, metadataOnly: false }).changed({ type, entry: { object: one, hand: 'none' } });

/** What waits in the queue after these changes: how many keys. */
const waiting = ({ controller }: ReturnType<typeof controlled>) => controller.queue.size;

describe('what wakes an object', () => {
  test('its own change, under its kind and under its alias, and a kind that comes or goes', () => {
    const it = controlled();
    news(it.shops, 'MODIFIED', object(Shop, 'corner'));
    news(it.old ?? never(), 'MODIFIED', object(OldShop, 'corner'));
    it.shops.wrote(object(Shop, 'station'));
    it.controller.lookAtAll();
    equal(waiting(it), 3);
  });

  test('not the echo of our own write, to itself or to a child', () => {
    const it = controlled();
    it.shops.wrote(object(Shop, 'corner'));
    it.configs.wrote(object(ConfigMap, 'c', { labels: { [label.kind]: 'Shop', [label.name]: 'corner' } }));
    equal(waiting(it), 0);
  });

  test('a change of a child or of a pod, also its going', () => {
    for (const type of ['MODIFIED', 'DELETED'] as const) {
      const it = controlled();
      it.shops.wrote(object(Shop, 'corner'));
      const marks = { labels: { [label.kind]: 'Shop', [label.name]: 'corner' } };
      const pod = object(Pod, 'p', marks);
      if (type === 'DELETED') it.pods.wrote(pod);
      news(it.pods, type, { ...pod, metadata: { ...pod.metadata, resourceVersion: String(++version) } });
      equal(waiting(it), 1, 'not the alias, of which there is no such object');
    }
  });

  test('both who had a child and who has it now', () => {
    const it = controlled();
    const owner = (name: string) => ({
      ownerReferences: [{ apiVersion: Shop.apiVersion, kind: 'Shop', name, uid: name, controller: true }],
    });
    for (const name of ['corner', 'station']) it.shops.wrote(object(Shop, name));
    it.configs.wrote(object(ConfigMap, 'c', owner('corner')));
    news(it.configs, 'MODIFIED', object(ConfigMap, 'c', owner('station')));
    equal(waiting(it), 2);
  });

  test('a change of what it read in its last pass, and of nothing else', async () => {
    const it = controlled({
      decide: ({ seen }) => {
        seen.read(ConfigMap, 'prices');
        return { want: [], status };
      },
    });
    it.shops.wrote(object(Shop, 'corner', { generation: 1 }, { status }));
    it.controller.woken('test.baton.dev/v1|Shop|street/corner');
    it.controller.hold('sync', undefined);
    await settle();
    deepEqual(it.passes, ['done']);
    it.controller.hold('sync', 'wait');
    news(it.prices, 'MODIFIED', object(ConfigMap, 'others'));
    equal(waiting(it), 0);
    news(it.prices, 'MODIFIED', object(ConfigMap, 'prices'));
    equal(waiting(it), 1);
  });

  test('nothing of a kind that is not its own', () => {
    const it = controlled();
    it.controller.changed({ store: controlled().shops, own: false, after: object(Shop, 'corner') });
    equal(waiting(it), 0);
  });
});

describe('a pass', () => {
  /** The world in which the child stands exactly as it was written. */
  function settled(more: Partial<ControllerDefinition> = {}, child: object = { data: { open: 'nine' } }) {
    const wish = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { open: 'nine' } };
    const it = controlled({ decide: () => ({ want: [apply(wish)], status }), ...more });
    const shop = object(Shop, 'corner', { generation: 1 }, { status });
    it.shops.wrote(shop);
    const dressed = dress(wish, { object: shop, kind: Shop, labelKind: 'Shop' });
    it.configs.wrote({
      ...dressed,
      ...child,
      metadata: { ...dressed.metadata, uid: 'u', resourceVersion: '1' },
    });
    it.controller.woken('test.baton.dev/v1|Shop|street/corner');
    it.controller.hold('sync', undefined);
    return it;
  }

  test('in a world that is as wanted asks the server for nothing', async () => {
    const it = settled();
    await settle();
    deepEqual([it.passes, it.lines], [['done'], []]);
  });

  test('finds a field that drifted, though the hash is the same', async () => {
    const it = settled({}, { data: { open: 'ten' } });
    await eventually(() => it.passes.length > 0);
    deepEqual(it.passes, ['failed'], 'the write had nowhere to go');
  });

  test('looks again when the decision says so', async () => {
    const it = settled({ decide: ({ seen }) => ({ want: seen.all(ConfigMap).map(keep), status, again: 60_000 }) });
    await settle();
    await it.clock.advance(59_999);
    deepEqual(it.passes, ['done']);
    await it.clock.advance(1);
    await settle();
    deepEqual(it.passes, ['done', 'done']);
  });

  test('that fails is told with its key and its error, and tried again', async () => {
    const it = settled({}, { data: { open: 'ten' } });
    const told = () => it.lines.find((line) => line.includes('a pass failed'));
    await eventually(() => told() !== undefined);
    match(
      told() ?? '',
      /WARN {2}a pass failed and will be tried again key=.*street\/corner.* error=.*ConfigMap street\/c/,
    );
    equal(it.controller.queue.stats().delayed, 1);
    await it.clock.advance(60_000);
    await eventually(() => it.passes.length > 1 && it.controller.queue.stats().delayed === 1);
    equal(it.lines.filter((line) => line.includes('a pass failed')).length, 1, 'the same words are news only once');
  });

  test('for an object that is gone forgets it', async () => {
    const it = controlled();
    it.controller.woken('test.baton.dev/v1|Shop|street/gone');
    it.controller.hold('sync', undefined);
    await settle();
    deepEqual([it.passes, it.order], [['done'], ['gone']]);
  });
});

describe('an object on its way out', () => {
  const finalizer = 'test.baton.dev/undo';
  /** An object that leaves, and what its cleanup answers. */
  function leaving(run: () => Promise<'done' | { again: number }>, metadata: Partial<ObjectMeta> = {}) {
    const it = controlled({ cleanup: { finalizer, run }, decide: never });
    const gone = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['theirs', finalizer], ...metadata };
    it.shops.wrote(object(Shop, 'corner', gone));
    it.controller.woken('test.baton.dev/v1|Shop|street/corner');
    it.controller.hold('sync', undefined);
    return it;
  }

  test('is held until its cleanup is done, and looked at again when that says so', async () => {
    const it = leaving(() => Promise.resolve({ again: 5_000 }));
    await settle();
    deepEqual(it.passes, ['done']);
    await it.clock.advance(5_000);
    await settle();
    deepEqual(it.passes, ['done', 'done']);
  });

  test('is held when its cleanup fails, for that reason', async () => {
    const it = leaving(() => Promise.reject(new Error('the bucket does not answer')));
    await eventually(() => it.passes.length > 0);
    deepEqual(it.passes, ['failed']);
    match(it.lines.at(-1) ?? '', /error="the bucket does not answer"/);
  });

  test('is let go when its cleanup is done', async () => {
    const it = leaving(() => Promise.resolve('done'));
    await eventually(() => it.lines.length > 0);
    match(it.lines[0] ?? '', /cannot patch Shop street\/corner/, 'the finalizer was to be taken away');
  });

  test('that holds nothing of ours is nothing to us', async () => {
    const it = leaving(() => Promise.reject(new Error('never asked')), { finalizers: ['theirs'] });
    await settle();
    deepEqual([it.passes, it.lines], [['done'], []]);
  });

  const failures: { name: string; error: Error; result: string; told: boolean; forbidden: number }[] = [
    { name: 'a view that was late', error: new Stale('late'), result: 'stale', told: false, forbidden: 0 },
    { name: 'a lost lease', error: new NotLeading('lost'), result: 'failed', told: false, forbidden: 0 },
    { name: 'a quota', error: new Refusal('QuotaExceeded', 'full'), result: 'failed', told: true, forbidden: 0 },
    {
      name: 'a missing right',
      error: new Refusal('MissingPermission', 'no'),
      result: 'failed',
      told: true,
      forbidden: 1,
    },
  ];
  for (const { name, error, result, told, forbidden } of failures)
    test(`${name} is ${told ? 'told in the log' : 'nothing to tell'}${forbidden ? ', and rights are checked again' : ''}`, async () => {
      const it = leaving(() => Promise.reject(error));
      await settle();
      deepEqual([it.passes, it.lines.length > 0, it.forbidden()], [[result], told, forbidden]);
    });

  test('a view that stays late is told', async () => {
    const it = leaving(() => Promise.reject(new Stale('late')));
    for (let attempts = 1; attempts < 5; attempts++) await it.clock.advance(60_000);
    equal(it.lines.length > 0, true);
  });
});

describe('a controller that is held', () => {
  test('works only when every reason is lifted, and then on all that came meanwhile', async () => {
    const it = controlled();
    it.controller.hold('sync', 'waits for sync');
    it.controller.hold('leadership', 'waits for leadership');
    it.controller.woken('test.baton.dev/v1|Shop|street/a');
    it.controller.hold('sync', undefined);
    await settle();
    deepEqual(it.passes, []);
    it.controller.hold('leadership', undefined);
    await settle();
    deepEqual(it.passes, ['done']);
  });

  test('starts held, until the first reason is lifted', async () => {
    const it = controlled();
    it.controller.woken('test.baton.dev/v1|Shop|street/a');
    await settle();
    deepEqual(it.passes, []);
  });
});

describe('who goes first', () => {
  /** The order in which these are served, after they came in this order. */
  async function served(come: (it: ReturnType<typeof controlled>) => void, hold: 'sync' | 'leadership' = 'leadership') {
    const it = controlled();
    it.controller.hold(hold, 'wait');
    come(it);
    it.controller.hold(hold, undefined);
    await settle(10);
    return it.order;
  }
  const parent = (name: string, generation: number) => object(Shop, name, { generation });

  test("a person's edit, before whatever else is new", async () => {
    const order = await served((it) => {
      for (const name of ['edited', 'touched']) it.shops.wrote(parent(name, 1));
      it.controller.woken('test.baton.dev/v1|Shop|street/news');
      news(it.shops, 'MODIFIED', parent('touched', 1));
      news(it.shops, 'MODIFIED', parent('edited', 2));
    });
    deepEqual(order, ['edited', 'news', 'touched']);
  });

  test('a deletion, as an edit', async () => {
    const order = await served((it) => {
      it.shops.wrote(parent('leaving', 1));
      it.controller.woken('test.baton.dev/v1|Shop|street/news');
      news(it.shops, 'MODIFIED', object(Shop, 'leaving', { generation: 1, deletionTimestamp: '2026-01-01T00:00:00Z' }));
    });
    deepEqual(order, ['leaving', 'news']);
  });

  test('the first view of the world, last', async () => {
    const order = await served((it) => {
      news(it.shops, 'MODIFIED', parent('first-view', 1));
      it.controller.woken('test.baton.dev/v1|Shop|street/news');
    }, 'sync');
    deepEqual(order, ['news', 'first-view']);
  });
});

describe('what a controller cannot do without', () => {
  test('is a whole view of its kind, its children, its pods and what it reads; not of an alias', () => {
    const it = controlled();
    const feeds = it.world.sources().map(({ store, source }) => ({ store, feed: store.feed(source) }));
    for (const { store, feed } of feeds) {
      equal(
        it.controller.synced,
        feeds.every((one) => one.store === it.old || one.store.synced),
      );
      if (store !== it.old) feed.replace(new Map(), '1', 0);
    }
    equal(it.controller.synced, true);
    deepEqual([it.controller.needs(it.prices), it.controller.needs(it.old ?? never())], [true, false]);
  });
});

async function eventually(holds: () => boolean): Promise<void> {
  for (let turns = 0; turns < 500 && !holds(); turns++) await new Promise((resolve) => setTimeout(resolve, 10));
}
