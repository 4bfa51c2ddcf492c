import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../tests/kit/clock.ts';
import { kindOf, type KubeObject } from '../objects/index.ts';
import { Store } from './cache.ts';
import { phasesIn, Readiness } from './readiness.ts';

const Model = kindOf('test.baton.dev/v1', 'Model', 'models');
const start = Date.UTC(2026, 0, 1);

let version = 0;
/** A model; `ready` is the generation for which it says that it is Ready. */
const model = (generation: number, ready?: number, own: object = {}): KubeObject =>
  ({
    apiVersion: Model.apiVersion,
    kind: Model.kind,
    metadata: {
      name: 'm',
      namespace: 'n',
      uid: 'u1',
      generation,
      resourceVersion: String(++version),
      creationTimestamp: new Date(start).toISOString(),
      ...own,
    },
    status: {
      phase: ready === undefined ? 'Downloading' : 'Ready',
      conditions: ready === undefined ? [] : [{ type: 'Ready', status: 'True', observedGeneration: ready }],
    },
  }) as unknown as KubeObject;

function world() {
  const clock = new FakeClock(start);
  const took: number[] = [];
  const readiness = new Readiness({ clock, took: (_, ms) => took.push(ms) });
  const onListenerError = (error: unknown) => {
    throw error;
  };
  const store = new Store({ kind: Model, clock, onChange: (change) => readiness.changed(change), onListenerError });
  return { clock, took, store };
}

describe('the time from asking to Ready', () => {
  test('begins with a new object and ends with its first Ready', async () => {
    const { clock, took, store } = world();
    store.wrote(model(1));
    await clock.advance(4_000);
    store.wrote(model(1, 1));
    await clock.advance(4_000);
    store.wrote(model(1, 1));
    deepEqual(took, [4_000]);
  });

  test('begins anew with an edit, whose Ready must be its own', async () => {
    const { clock, took, store } = world();
    store.wrote(model(1, 1));
    await clock.advance(60_000);
    store.wrote(model(2, 1));
    await clock.advance(3_000);
    store.wrote(model(2, 1));
    equal(took.length, 0, 'Ready of the former generation is none');
    store.wrote(model(2, 2));
    deepEqual(took, [3_000]);
  });

  test('of an object that waited before the operator came counts from its creation', async () => {
    const { clock, took, store } = world();
    await clock.advance(90_000);
    store.wrote(model(1));
    await clock.advance(10_000);
    store.wrote(model(1, 1));
    deepEqual(took, [100_000]);
  });

  test('is unknown for what was edited or Ready before the operator came', async () => {
    const { clock, took, store } = world();
    await clock.advance(90_000);
    store.wrote(model(2));
    store.wrote(model(2, 2));
    store.wrote(model(1, 1, { name: 'other', uid: 'u2' }));
    deepEqual(took, []);
  });

  test('begins anew for an object of the same name', async () => {
    const { clock, took, store } = world();
    store.wrote(model(1));
    await clock.advance(50_000);
    store.wrote(model(1, undefined, { uid: 'u2', creationTimestamp: new Date(start + 50_000).toISOString() }));
    await clock.advance(2_000);
    store.wrote(model(1, 1, { uid: 'u2' }));
    deepEqual(took, [2_000]);
  });
});

test('objects are counted by phase', () => {
  const { store } = world();
  store.wrote(model(1));
  store.wrote(model(1, 1, { name: 'a' }));
  store.wrote(model(1, 1, { name: 'b' }));
  deepEqual(
    [...phasesIn([store])],
    [
      ['Downloading', 1],
      ['Ready', 2],
    ],
  );
});
