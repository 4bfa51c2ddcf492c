// The rows of bad inputs, three times each: alone, with the operator crashing after each of its writes, and beside healthy
// models that must not notice.

import { deepEqual, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MLModel } from '../../src/api/index.ts';
import { conditionOf } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { openModelLane, type ModelLane } from '../kit/models.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';
import { rows } from './rows.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, product)));
after(() => rig.stop());

async function onModelLane(run: (lane: ModelLane) => Promise<void>): Promise<void> {
  const lane = await openModelLane(rig);
  try {
    await run(lane);
  } catch (error) {
    const log = (await lane.operator.current()).log().split('\n').slice(-30).join('\n');
    throw new Error(`in ${lane.namespace}; the operator's log:\n${log}`, { cause: error });
  } finally {
    await lane.close();
  }
}

describe('alone', { concurrency: 4 }, () => {
  for (const { name, run } of rows) test(name, () => onModelLane(run));
});

/** Everything that is written but Events: one that is there already is no progress, and a crash after it would go on for ever. */
const children = [
  'mlmodels',
  'controllerrevisions',
  'persistentvolumeclaims',
  'jobs',
  'deployments',
  'services',
  'poddisruptionbudgets',
];

describe('with a crash after every write', { concurrency: 4 }, () => {
  for (const { name, run } of rows)
    test(name, () =>
      onModelLane(async (lane) => {
        await lane.operator.current();
        lane.proxy.setPlan(
          [{ when: { write: { resource: children }, every: 1 }, do: { kind: 'kill' }, times: 'always' }],
          lane.operator,
        );
        await run(lane);
        ok(lane.operator.restarts() > 0, 'it did crash');
      }),
    );
});

describe('beside healthy models', { concurrency: 2 }, () => {
  const healthy = Array.from({ length: 20 }, (_, nth) => `healthy-${nth}`);
  test('twenty models notice nothing of all the rows in their namespace', () =>
    onModelLane(async (lane) => {
      for (const name of healthy) await lane.model({}, { name });
      for (const name of healthy) await lane.ready(name);
      const calm = await versions(lane, healthy);
      for (const { run } of rows.filter(({ name }) => !/^(10|16):/.test(name))) {
        await run(lane);
        await rig.admin.delete(MLModel, { namespace: lane.namespace, name: 'iris' });
        await eventually(async () => (await rig.get(MLModel, lane.namespace, 'iris')) === undefined);
      }
      deepEqual(await versions(lane, healthy), calm, 'not one of them was written');
    }));
});

/** What each model was when it was last written, and whether it is Ready. */
async function versions({ rig: { admin }, namespace }: ModelLane, names: string[]): Promise<string[]> {
  const models = await Promise.all(names.map((name) => admin.get(MLModel, { namespace, name })));
  return models.map(
    ({ metadata, status }) => `${metadata.name} ${metadata.resourceVersion} ${conditionOf(status, 'Ready')?.status}`,
  );
}
