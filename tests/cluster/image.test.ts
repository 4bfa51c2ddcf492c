// Weights that are images, on the real API server and real registries, with simulated pods: which way they take to a
// server, what is never made on that way, and what a tag that moves does to a model. None.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { mark, MLModel, sayLastWord } from '../../src/api/index.ts';
import {
  conditionOf,
  ControllerRevision,
  Deployment,
  Job,
  PersistentVolumeClaim,
  Pod,
  Secret,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { pullSecret, startRegistry, type TestRegistry, user } from '../kit/registry.ts';
import { must, product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
let open: TestRegistry;
let closed: TestRegistry;

before(async () => {
  [rig, open, closed] = await Promise.all([
    startRig({ nodes: 1 }, product),
    startRegistry(),
    startRegistry({ open: false }),
  ]);
  await rig.operator({ plainRegistries: [open.host, closed.host] });
});

after(async () => {
  const forbidden = rig.proxy.trace.requests({}).filter(({ answer }) => answer?.status === 403);
  const written = rig.proxy.trace.writes({}).map(({ body }) => body);
  await Promise.all([rig.stop(), open.stop(), closed.stop()]);
  deepEqual(forbidden, [], 'the generated roles are enough for every story');
  ok(!written.some((body) => body.includes(user.password)), 'a password was written');
});

const model = (namespace: string, image: string, own: object = {}, metadata: object = {}) =>
  rig.apply(MLModel, {
    metadata: { namespace, name: 'iris', ...metadata },
    spec: { modelURL: `oci://${image}`, framework: 'onnx', ...own },
  });
const get = (namespace: string) => rig.admin.get(MLModel, { namespace, name: 'iris' });

const ready = (namespace: string): Promise<MLModel> =>
  eventually(
    async () => {
      const now = await get(namespace);
      const { status, observedGeneration } = conditionOf(now.status, 'Ready') ?? {};
      if (status === 'True' && observedGeneration === now.metadata.generation) return now;
      throw new Error(JSON.stringify(now.status));
    },
    { within: 60_000, what: 'the model becomes Ready' },
  );

const stalled = (namespace: string, reason: string): Promise<MLModel> =>
  eventually(
    async () => {
      const now = await get(namespace);
      equal(conditionOf(now.status, 'Stalled')?.reason, reason);
      equal(conditionOf(now.status, 'Stalled')?.status, 'True');
      return now;
    },
    { within: 60_000, what: `the model stalls with ${reason}` },
  );

/** The image that the servers mount. */
async function mounted(namespace: string): Promise<string | undefined> {
  const { spec } = await rig.admin.get(Deployment, { namespace, name: 'iris-server' });
  const volumes = spec.template.spec['volumes'] as { name: string; image?: { reference: string } }[];
  return volumes.find(({ name }) => name === 'weights')?.image?.reference;
}

const made = (namespace: string, resource: string) =>
  rig.proxy.trace.writes({ resource, verb: 'create', namespace }).length;

test('on nodes that are not known to mount images, an image is downloaded onto a volume of its size', async () => {
  const namespace = await rig.namespace();
  await open.push('models/early:1');
  await model(namespace, `${open.host}/models/early:1`);
  const { status } = await ready(namespace);
  equal(status?.weightsPath, 'Claim');
  const [claim] = await rig.list(PersistentVolumeClaim, namespace);
  equal(claim?.spec.resources?.requests?.storage, '1Gi');
  equal(await mounted(namespace), undefined);
});

describe('on nodes that mount images', { concurrency: 3 }, () => {
  before(async () => {
    const nodeInfo = { containerRuntimeVersion: 'containerd://2.4.2' };
    const patch = JSON.stringify({ status: { nodeInfo } });
    const { stdout } = await rig.plane.kubectl(['get', 'nodes', '-o', 'name']);
    for (const node of stdout.trim().split('\n'))
      await must(rig.plane, ['patch', node, '--subresource=status', '-p', patch]);
    await pause(2_000); // for so long models share what was answered before
  });

  test('an image is served by its digest, with neither a claim nor a Job; a tag that moves changes nothing', async () => {
    const namespace = await rig.namespace();
    const [name, image] = ['models/iris', `${open.host}/models/iris`];
    const first = await open.push(`${name}:1`);
    await model(namespace, `${image}:1`);
    const { status } = await ready(namespace);
    deepEqual([status?.weightsPath, status?.digest], ['ImageVolume', first]);
    equal(await mounted(namespace), `${image}@${first}`);
    const second = await open.push(`${name}:1`);
    await must(rig.plane, ['-n', namespace, 'scale', 'mlm/iris', '--replicas=2']);
    await eventually(async () => (await get(namespace)).status?.readyReplicas === 2);
    equal(await mounted(namespace), `${image}@${first}`, 'scaling asks for nothing new');
    await model(namespace, `${image}:1`, { env: [{ name: 'A', value: 'b' }], replicas: 2 });
    const edited = await ready(namespace);
    deepEqual([edited.status?.digest, edited.status?.history], [second, [status?.revision]]);
    await model(namespace, `${image}:1`, { replicas: 2 });
    const back = await ready(namespace);
    deepEqual([back.status?.digest, await mounted(namespace)], [first, `${image}@${first}`]);
    deepEqual([made(namespace, 'persistentvolumeclaims'), made(namespace, 'jobs')], [0, 0]);
  });

  test('a revision that somebody removes comes back with the image that is served', async () => {
    const namespace = await rig.namespace();
    const first = await open.push('models/removed:1');
    await model(namespace, `${open.host}/models/removed:1`);
    await ready(namespace);
    const pods = async () => (await rig.list(Pod, namespace)).map(({ metadata }) => metadata.uid);
    const running = await pods();
    await open.push('models/removed:1');
    await must(rig.plane, ['-n', namespace, 'delete', 'controllerrevision', '--all']);
    await eventually(async () => (await rig.list(ControllerRevision, namespace)).length === 1);
    await pause(1_000);
    deepEqual([(await ready(namespace)).status?.digest, await pods()], [first, running]);
  });

  test('an artifact, of which nodes would mount nothing, is downloaded', async () => {
    const namespace = await rig.namespace();
    const digest = await open.push('models/raw:1', 'artifact');
    await model(namespace, `${open.host}/models/raw:1`);
    const { status } = await ready(namespace);
    equal(status?.weightsPath, 'Claim');
    const [job] = rig.proxy.trace.writes({ resource: 'jobs', verb: 'create', namespace });
    match(job?.body ?? '', new RegExp(`oci://${open.host}/models/raw@${digest}`));
    equal(await mounted(namespace), undefined);
  });

  test('a private image is looked at by a Job with the pull secret, which goes when it has told', async () => {
    const namespace = await rig.namespace();
    const digest = await closed.push('models/private:1');
    const metadata = { namespace, name: 'pull' };
    const data = { '.dockerconfigjson': Buffer.from(pullSecret(closed.host)).toString('base64') };
    await rig.apply(Secret, { metadata, type: 'kubernetes.io/dockerconfigjson', data });
    const word = sayLastWord({ result: 'done', digest, bytes: 20, mountable: true });
    await model(namespace, `${closed.host}/models/private:1`, {
      imagePullSecrets: [{ name: 'pull' }],
      podAnnotations: { 'sim.baton.dev/container': 'inspect', 'sim.baton.dev/message': word },
    });
    const { status } = await ready(namespace);
    deepEqual([status?.weightsPath, status?.digest], ['ImageVolume', digest]);
    equal(await mounted(namespace), `${closed.host}/models/private@${digest}`);
    await eventually(async () => (await rig.list(Job, namespace)).length === 0, { what: 'the Job goes' });
    deepEqual([made(namespace, 'jobs'), made(namespace, 'persistentvolumeclaims')], [1, 0]);
  });

  test('a private image that no Secret opens says what to do, and a named Secret is tried at once', async () => {
    const namespace = await rig.namespace();
    const image = `${closed.host}/models/locked:1`;
    await model(namespace, image);
    const { status } = await stalled(namespace, 'SourceUnauthorized');
    match(status?.message ?? '', /imagePullSecrets/);
    const message = sayLastWord({ result: 'verdict', verdict: 'SourceUnauthorized', message: 'it answered 401' });
    const fails = { 'sim.baton.dev/fault': 'crash', 'sim.baton.dev/exit-code': '42', 'sim.baton.dev/message': message };
    await model(namespace, image, {
      imagePullSecrets: [{ name: 'wrong' }],
      podAnnotations: { 'sim.baton.dev/container': 'inspect', ...fails },
    });
    await eventually(async () => /^it answered 401$/.test((await get(namespace)).status?.message ?? ''));
    await stalled(namespace, 'SourceUnauthorized');
    equal(made(namespace, 'jobs'), 1);
  });

  test('an image that is not there stalls, and serves when it is there and somebody says so', async () => {
    const namespace = await rig.namespace();
    await model(namespace, `${open.host}/models/late:1`);
    await stalled(namespace, 'SourceNotFound');
    deepEqual(await rig.list(ControllerRevision, namespace), []);
    await open.push('models/late:1', 'index');
    await must(rig.plane, ['-n', namespace, 'annotate', 'mlm/iris', `${mark.retry}=now`]);
    equal((await ready(namespace)).status?.weightsPath, 'ImageVolume');
  });

  test('what serves goes on while a registry is looked for', async () => {
    const namespace = await rig.namespace();
    await open.push('models/steady:1');
    await model(namespace, `${open.host}/models/steady:1`);
    const first = await ready(namespace);
    await model(namespace, '127.0.0.1:9/models/nowhere:1');
    const now = await eventually(async () => {
      const { status } = await get(namespace);
      match(status?.message ?? '', /nowhere:1 cannot be looked at: .*serves until then/s);
      return status;
    });
    deepEqual(
      ['Available', 'Reconciling', 'Ready'].map((type) => conditionOf(now, type)?.status),
      ['True', 'True', 'False'],
    );
    equal(now?.servingRevision, first.status?.servingRevision);
  });
});

test('what names no image is refused when it is written, and the sample is not', async () => {
  const dryRun = (file: string, text?: string) =>
    must(rig.plane, ['-n', 'default', 'apply', '--dry-run=server', '-f', file], text);
  const asked = (image: string, own: object = {}) => {
    const spec = { modelURL: `oci://${image}`, framework: 'onnx', ...own };
    const { apiVersion, kind } = MLModel;
    return dryRun('-', JSON.stringify({ apiVersion, kind, metadata: { name: 'iris' }, spec }));
  };
  await dryRun(join(import.meta.dirname, '../../examples/mlmodel-oci.yaml'));
  const [digest, other] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`);
  for (const bad of ['flowers', 'host.example/Upper:1', 'host.example/a@sha256:short', 'me:it@host.example/a', '/a:1'])
    await rejects(asked(bad), /spec\.modelURL/, bad);
  await rejects(asked(`host.example/a@${other}`, { digest }), /spec\.digest/);
  for (const good of ['host.example/a', 'host.example:5000/a/b_c.d:v1.2-x', `host.example/a:1@${digest}`])
    await asked(good, { digest });
});

test('nothing of a trial is stored, and nodes are asked for only while an image is looked at', () => {
  const trials = rig.proxy.trace.requests({ resource: 'deployments', verb: 'create' }).filter(({ dryRun }) => dryRun);
  ok(trials.length > 0);
  ok(trials.every(({ name, answer }) => /^trial-\w+$/.test(name) && answer?.status === 201));
  ok(rig.proxy.trace.requests({ resource: 'nodes' }).length < 30);
});
