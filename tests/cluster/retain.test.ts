// Volumes that outlive their model, on the real API server: who takes them up, which of them stay, and that a refusal says
// what is left to do.

import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { MLModel } from '../../src/api/index.ts';
import {
  conditionOf,
  controllerOf,
  Deployment,
  kindOf,
  label,
  PersistentVolumeClaim,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { untilReady } from '../kit/ready.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
before(async () => {
  rig = await startRig({ nodes: 1 }, product);
  await rig.operator();
});
after(() => rig.stop());

const spec = { modelURL: 'https://models.example/iris-1.onnx', storageSize: '1Gi', framework: 'onnx' };
const second = { modelURL: 'https://models.example/iris-2.onnx' };
const model = (namespace: string, own: object) =>
  rig.apply(MLModel, { metadata: { namespace, name: 'iris' }, spec: { ...spec, ...own } });
const get = (namespace: string) => rig.admin.get(MLModel, { namespace, name: 'iris' });

const ready = (namespace: string): Promise<MLModel> => untilReady(() => get(namespace));

async function remove(namespace: string): Promise<void> {
  await rig.admin.delete(MLModel, { namespace, name: 'iris' });
  await eventually(async () => (await rig.list(Deployment, namespace)).length === 0, { within: 90_000 });
}

/** Each claim: whether it stays, and whether it has an owner. */
const claims = async (namespace: string): Promise<string[]> =>
  (await rig.list(PersistentVolumeClaim, namespace)).map((claim) =>
    [claim.metadata.labels?.[label.retained] ? 'stays' : 'goes', controllerOf(claim) ? 'owned' : 'free'].join(' '),
  );

const become = (namespace: string, ...expected: string[]) =>
  eventually(async () => deepEqual(await claims(namespace), expected) ?? true, { within: 30_000 });

describe('a retained volume', { concurrency: 3 }, () => {
  test('is taken up by a model that does not retain it, and goes with that', async () => {
    const namespace = await rig.namespace();
    await model(namespace, { retain: true });
    await ready(namespace);
    await remove(namespace);
    await become(namespace, 'stays free');
    await model(namespace, { retain: false });
    await ready(namespace);
    await become(namespace, 'goes owned');
    await remove(namespace);
    await become(namespace);
  });

  test('of a former revision follows `retain`, in both directions and once', async () => {
    const namespace = await rig.namespace();
    await model(namespace, { retain: true });
    await ready(namespace);
    await model(namespace, { ...second, retain: true });
    await ready(namespace);
    await become(namespace, 'stays free', 'stays free');
    const message = conditionOf((await get(namespace)).status, 'Retained')?.message ?? '';
    match(message, /^The volumes iris-weights-\w+, iris-weights-\w+ stay when the model is deleted$/);
    await model(namespace, { ...second, retain: false });
    await become(namespace, 'goes owned', 'goes owned');
    await model(namespace, { ...second, retain: true });
    await become(namespace, 'stays free', 'stays free');
    await ready(namespace);
    await pause(1_000); // the status that tells of it
    const since = rig.proxy.trace.mark();
    await pause(3_000);
    const writes = rig.proxy.trace.writes({ namespace }).filter(({ seq }) => seq > since);
    deepEqual(writes, [], 'nothing is written at rest');
    await model(namespace, { retain: false });
    await ready(namespace);
    await become(namespace, 'goes owned', 'goes owned');
  });

  test('a refused write is a failure in one sentence, with what serves meanwhile', async () => {
    const namespace = await rig.namespace();
    await model(namespace, {});
    await ready(namespace);
    await rig.apply(kindOf('v1', 'ResourceQuota', 'resourcequotas'), {
      metadata: { namespace, name: 'small' },
      spec: { hard: { 'requests.storage': '1Gi' } },
    });
    await model(namespace, second);
    const status = await eventually(
      async () => {
        const now = await get(namespace);
        equal(conditionOf(now.status, 'Stalled')?.reason, 'QuotaExceeded');
        return now.status;
      },
      { within: 30_000 },
    );
    equal(status?.phase, 'Failed');
    match(
      status?.message ?? '',
      /^the quota does not allow PersistentVolumeClaim iris-weights-\w+: exceeded quota: small, [^:]*: ?requests.storage=.*; 1 server answers with revision \w+$/,
    );
    equal(conditionOf(status, 'Serving')?.message, status?.message);
  });
});
