// Weights from registries on a real node, from the edit to the prediction: mounted as an image by the kubelet, downloaded
// where they are no image, and looked at by a Job where the registry wants to know who asks.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { type RealCluster, skipReason, startRealCluster } from '../../controlplane/node/index.ts';
import { MLModel } from '../../src/api/index.ts';
import { conditionOf } from '../../src/objects/index.ts';
import { type LocalOperator, startLocalOperator } from '../../tools/index.ts';
import { eventually } from '../kit/eventually.ts';
import { type Pusher, pusherTo } from '../kit/images.ts';
import { iris, irisModel, irisProbabilities } from '../kit/onnx/models.ts';
import { startRegistry, type TestRegistry, user } from '../kit/registry.ts';
import { kindsOf, must, product } from '../kit/rig.ts';
import { call, freshNamespace } from './pods.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../..');

suite('weights from a registry', { skip: await skipReason() }, () => {
  let cluster: RealCluster;
  let pusher: Pusher;
  let closed: TestRegistry;
  let operator: LocalOperator;
  before(async () => {
    cluster = await startRealCluster({ kinds: kindsOf(product) });
    pusher = await pusherTo(cluster.registry);
    closed = await startRegistry({ open: false, address: cluster.machineAddress });
    const image = `${cluster.registry}/baton:1`;
    await execute(process.execPath, ['tools/image.ts', `--push=${image}`, '--plain-http'], { cwd: root });
    await must(cluster, ['create', 'namespace', 'baton-system']);
    await must(cluster, ['-n', 'baton-system', 'create', 'serviceaccount', 'baton']);
    await must(cluster, ['apply', '-f', join(root, 'deploy/rbac')]);
    const plain = [cluster.registry, closed.host].join(',');
    operator = await startLocalOperator(cluster, [`--image=${image}`, `--plain-registries=${plain}`]);
  });
  after(async () => {
    const log = operator?.log() ?? '';
    await operator?.stop();
    await Promise.all([closed?.stop(), pusher?.[Symbol.asyncDispose]()]);
    await cluster?.stop();
    ok(!log.includes(user.password), 'a password was logged');
  });

  const path = (namespace: string) => `/apis/${MLModel.apiVersion}/namespaces/${namespace}/${MLModel.plural}`;

  const apply = (namespace: string, image: string, own: object = {}) => {
    const spec = { modelURL: `oci://${image}`, framework: 'onnx', ...own };
    const object = { apiVersion: MLModel.apiVersion, kind: MLModel.kind, metadata: { name: 'iris' }, spec };
    return must(cluster, ['-n', namespace, 'apply', '-f', '-'], JSON.stringify(object));
  };

  const ready = (namespace: string): Promise<MLModel> =>
    eventually(
      async () => {
        const model = await call<MLModel>(cluster, 'GET', `${path(namespace)}/iris`);
        const { status, observedGeneration } = conditionOf(model.status, 'Ready') ?? {};
        if (status === 'True' && observedGeneration === model.metadata.generation) return model;
        throw new Error(JSON.stringify(model.status));
      },
      { within: 120_000, what: 'the model becomes Ready' },
    );

  /** The probabilities of one flower, from whatever serves. */
  async function predicted(namespace: string): Promise<number[]> {
    const [data = []] = iris.flowers;
    const inputs = [{ name: 'measurements', datatype: 'FP32', shape: [1, 4], data }];
    const service = `/api/v1/namespaces/${namespace}/services/iris-service:8080/proxy`;
    const answer = await call<{ outputs: { name: string; data: number[] }[] }>(
      cluster,
      'POST',
      `${service}/v2/models/model/infer`,
      { inputs },
    );
    return answer.outputs.find(({ name }) => name === 'probabilities')?.data ?? [];
  }

  async function isRight(namespace: string): Promise<boolean> {
    const expected = irisProbabilities(iris.flowers[0] ?? []);
    const found = await predicted(namespace);
    return found.length === 3 && found.every((value, index) => Math.abs(value - (expected[index] ?? 9)) < 1e-5);
  }

  const count = async (namespace: string, kinds: string): Promise<number> =>
    (await must(cluster, ['-n', namespace, 'get', kinds, '-o', 'name'])).split('\n').filter((line) => line !== '')
      .length;

  let mounted = '';
  test('are mounted as an image, with neither a claim nor a Job, and answer', async () => {
    const namespace = await freshNamespace(cluster);
    const digest = await pusher.push('models/iris:1', 'image', irisModel());
    await apply(namespace, `${cluster.registry}/models/iris:1`);
    const { status } = await ready(namespace);
    deepEqual([status?.weightsPath, status?.digest], ['ImageVolume', digest]);
    ok(await isRight(namespace));
    equal(await count(namespace, 'persistentvolumeclaims,jobs'), 0);
    mounted = namespace;
  });

  test('are downloaded where they are no image, and answer', async () => {
    const namespace = await freshNamespace(cluster);
    const digest = await pusher.push('models/raw:1', 'artifact', irisModel());
    await apply(namespace, `${cluster.registry}/models/raw:1`);
    const { status } = await ready(namespace);
    deepEqual([status?.weightsPath, status?.digest], ['Claim', digest]);
    ok(await isRight(namespace));
  });

  test('are looked at by a Job where only credentials open the registry, and answer', async () => {
    const namespace = await freshNamespace(cluster);
    const digest = await closed.push('models/private:1', 'image', irisModel());
    const literals = Object.entries(user).map(([key, value]) => `--from-literal=${key}=${value}`);
    await must(cluster, ['-n', namespace, 'create', 'secret', 'generic', 'mine', ...literals]);
    await apply(namespace, `${closed.host}/models/private:1`, { credentials: 'mine' });
    const { status } = await ready(namespace);
    deepEqual([status?.weightsPath, status?.digest], ['Claim', digest]);
    ok(await isRight(namespace));
    equal(await count(namespace, 'jobs'), 0);
  });

  test('as an image leave nothing, once the model is deleted', async () => {
    await must(cluster, ['-n', mounted, 'delete', 'mlm', 'iris']);
    await eventually(async () => (await count(mounted, 'deployments,pods,services,controllerrevisions')) === 0, {
      within: 120_000,
      what: 'nothing is left',
    });
  });
});
