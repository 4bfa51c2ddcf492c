// A pass in which something apart from Ready is refused. The client leads nowhere: were anything else to be said than what
// the object says already, it would be written, and the pass would fail.

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../tests/kit/clock.ts';
import { makeLog } from '../base/index.ts';
import { type CommonStatus, ConfigMap, type Kind, kindOf, type KubeObject } from '../objects/index.ts';
import { Circuit } from './circuit.ts';
import { Client, readerOf } from './client/index.ts';
import { apart, apply, type ControllerDefinition } from './define.ts';
import { Gatherer } from './gather.ts';
import { reconcile } from './reconcile.ts';
import { Subscriptions } from './routes.ts';
import { settled, withSetback } from './status.ts';
import { World } from './world.ts';

const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');
const ready = { type: 'Ready', status: 'True' as const, reason: 'Open', message: 'open', observedGeneration: 1 };
const open: CommonStatus = { observedGeneration: 1, phase: 'Open', conditions: [ready] };

const object = (kind: Kind, name: string): KubeObject => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name, namespace: 'street', uid: `uid-${name}`, resourceVersion: '1', generation: 1 },
});

/** A pass for a shop that says this, in a street where somebody else's window stands. */
function pass(status: CommonStatus, again?: number): Promise<{ again?: number }> {
  const wish = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'window' } };
  const definition: ControllerDefinition = {
    kind: Shop,
    conditions: ['Shown'],
    owns: [ConfigMap],
    decide: () => ({ want: [apart('Shown', apply(wish))], status: open, ...(again !== undefined && { again }) }),
  };
  const clock = new FakeClock();
  const log = makeLog({ level: 'error', format: 'text', now: () => 0, write: () => {} });
  const world = new World({
    definitions: [definition],
    namespaces: [],
    clock,
    onChange: () => {},
    onListenerError: () => {},
  });
  const nowhere = { server: 'http://127.0.0.1:1', credential: () => ({ headers: [], tls: {} }) };
  const client = new Client({ cluster: nowhere, clock });
  const [reader, clients] = [readerOf(client), {}];
  const gatherer = new Gatherer({
    facts: {},
    tools: { kube: reader, clients },
    clock,
    random: () => 0.5,
    wake: () => {},
    parallel: 1,
    backoff: { first: 1, most: 1 },
  });
  const [parents, stores] = [world.parentsOf(definition), world.storesOf(definition)];
  parents.get(Shop)?.wrote({ ...object(Shop, 'corner'), status } as KubeObject);
  stores.owned[0]?.wrote(object(ConfigMap, 'window'));
  const [subscriptions, circuit, { signal }] = [new Subscriptions(), new Circuit({ clock }), new AbortController()];
  return reconcile(
    { kind: Shop, namespace: 'street', name: 'corner' },
    { definition, client, reader, clients, parents, stores, subscriptions, gatherer, circuit, clock, log, signal },
  );
}

test('what is refused apart is told in its condition alone, and tried again without being a failure', async () => {
  const reason = 'OwnershipConflict';
  const message =
    'ConfigMap window exists already and was not made by Baton; it is left untouched. Rename or delete it to go on';
  const told = settled(withSetback(open, 'Shown', { reason, message }), undefined, 0);
  deepEqual(await pass(told), { again: 30_000 });
  deepEqual(await pass(told, 5_000), { again: 5_000 }, 'what else there is to do does not wait for it');
});
