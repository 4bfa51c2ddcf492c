// The life of a model on the real API server, with simulated pods: one story a test, told from outside.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { mark, MLModel } from '../../src/api/index.ts';
import {
  conditionOf,
  ControllerRevision,
  Deployment,
  Job,
  kstatusOf,
  PersistentVolumeClaim,
  Pod,
  Service,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import type { RunningOperator } from '../kit/process.ts';
import { must, product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
let operator: RunningOperator;
before(async () => {
  rig = await startRig({ nodes: 1 }, product);
  operator = await rig.operator();
});
after(async () => {
  const forbidden = rig.proxy.trace.requests({}).filter(({ answer }) => answer?.status === 403);
  await rig.stop();
  deepEqual(forbidden, [], 'the generated roles are enough for every story');
});

const spec = { modelURL: 'https://models.example/iris-1.onnx', storageSize: '1Gi', framework: 'onnx' };
const model = (namespace: string, own: object = {}, metadata: object = {}) =>
  rig.apply(MLModel, { metadata: { namespace, name: 'iris', ...metadata }, spec: { ...spec, ...own } });
const get = (namespace: string) => rig.admin.get(MLModel, { namespace, name: 'iris' });

/** Waits for Ready of the current generation. */
const ready = (namespace: string, within = 60_000): Promise<MLModel> =>
  eventually(
    async () => {
      const now = await get(namespace);
      const { status, observedGeneration } = conditionOf(now.status, 'Ready') ?? {};
      if (status === 'True' && observedGeneration === now.metadata.generation) return now;
      throw new Error(JSON.stringify(now.status));
    },
    { within, what: 'the model becomes Ready' },
  );

/** Waits until the message says so. */
const says = (namespace: string, words: RegExp): Promise<MLModel> =>
  eventually(
    async () => {
      const now = await get(namespace);
      match(now.status?.message ?? '', words);
      return now;
    },
    { within: 30_000, what: `the message says ${words}` },
  );

describe('a model', { concurrency: 3 }, () => {
  test('goes from apply to Ready; kubectl reads well', async () => {
    const namespace = await rig.namespace();
    await model(namespace, { expose: true });
    const { status } = await ready(namespace);
    equal(status?.phase, 'Ready');
    match(status?.digest ?? '', /^sha256:/);
    match(status?.serviceEndpoint ?? '', /^iris-service\..*\.svc\.cluster\.local:8080$/);
    equal(conditionOf(status, 'Exposed')?.status, 'True');
    equal((await rig.admin.get(Service, { namespace, name: 'iris-service' })).spec.type, 'ClusterIP');
    await eventually(async () => (await rig.list(Job, namespace)).length === 0, {
      what: 'the Job goes after the note',
    });
    match(await must(rig.plane, ['-n', namespace, 'get', 'mlm']), /NAME +PHASE +READY +REASON/);
    match(await must(rig.plane, ['-n', namespace, 'get', 'mlm']), /iris +Ready +True +Serving/);
    match(await must(rig.plane, ['explain', 'mlm.spec']), /modelURL/);
    await must(rig.plane, ['-n', namespace, 'wait', '--for=condition=Ready', 'mlm/iris', '--timeout=5s']);
    equal(kstatusOf(await get(namespace)), 'Current');
  });

  test('a new source is fetched beside the old one, which serves until then; going back returns at once', async () => {
    const namespace = await rig.namespace();
    await model(namespace);
    const first = await ready(namespace);
    await model(namespace, { modelURL: 'https://models.example/iris-2.onnx' });
    const under = await says(namespace, /revision \w+ serves until then/);
    equal(conditionOf(under.status, 'Available')?.status, 'True');
    const second = await ready(namespace);
    ok(second.status?.servingRevision !== first.status?.servingRevision);
    deepEqual(second.status?.history, [first.status?.servingRevision]);
    const mark1 = rig.proxy.trace.mark();
    await model(namespace);
    await ready(namespace);
    const jobs = rig.proxy.trace
      .writes({ resource: 'jobs', verb: 'create', namespace })
      .filter(({ seq }) => seq > mark1);
    deepEqual(jobs, [], 'nothing is fetched again');
  });

  test('scales by kubectl, also to zero', async () => {
    const namespace = await rig.namespace();
    await model(namespace);
    await ready(namespace);
    await must(rig.plane, ['-n', namespace, 'scale', 'mlm/iris', '--replicas=3']);
    await eventually(async () => (await get(namespace)).status?.readyReplicas === 3, {
      what: 'three servers are ready',
    });
    await must(rig.plane, ['-n', namespace, 'scale', 'mlm/iris', '--replicas=0']);
    await eventually(async () => conditionOf((await get(namespace)).status, 'Ready')?.reason === 'ScaledToZero');
  });

  test('an operator of another build restarts nothing, and says that it would run things otherwise', async () => {
    const namespace = await rig.namespace();
    await model(namespace);
    await ready(namespace);
    const pods = async () => (await rig.list(Pod, namespace)).map(({ metadata }) => metadata.uid);
    const running = await pods();
    await operator.kill();
    operator = await rig.operator({ image: 'baton:2' });
    await eventually(async () => conditionOf((await get(namespace)).status, 'Outdated')?.status === 'True');
    await pause(2_000);
    deepEqual(await pods(), running);
    await must(rig.plane, ['-n', namespace, 'annotate', 'mlm/iris', `${mark.refresh}=now`]);
    await eventually(async () => conditionOf((await get(namespace)).status, 'Outdated')?.status === 'False');
    await ready(namespace);
    await operator.kill();
    operator = await rig.operator();
  });

  test('is deleted at any moment, and leaves nothing; with retain it leaves the volume', async () => {
    const namespace = await rig.namespace();
    await model(namespace, { retain: true });
    await ready(namespace);
    await rig.admin.delete(MLModel, { namespace, name: 'iris' });
    await eventually(
      async () =>
        [...(await rig.list(Deployment, namespace)), ...(await rig.list(ControllerRevision, namespace))].length === 0,
      { within: 90_000, what: 'the children go' },
    );
    equal((await rig.list(PersistentVolumeClaim, namespace)).length, 1, 'the volume stays');
    const mark1 = rig.proxy.trace.mark();
    await model(namespace, { retain: true });
    await ready(namespace);
    const jobs = rig.proxy.trace
      .writes({ resource: 'jobs', verb: 'create', namespace })
      .filter(({ seq }) => seq > mark1);
    deepEqual(jobs, [], 'and is taken up again with its weights');
  });
});

describe('the cause of a failure is in the message', { concurrency: 3 }, () => {
  const server = (annotations: Record<string, string>) => ({
    podAnnotations: { 'sim.baton.dev/container': 'server', ...annotations },
  });
  const rows: { name: string; own: object; words: RegExp }[] = [
    {
      name: 'unschedulable',
      own: { resources: { requests: { cpu: '1000' } } },
      words: /nodes are available.*Insufficient cpu/,
    },
    { name: 'image cannot be pulled', own: server({ 'sim.baton.dev/fault': 'image-pull-error' }), words: /pull/i },
    {
      name: 'missing Secret',
      own: server({ 'sim.baton.dev/fault': 'config-error', 'sim.baton.dev/message': 'secret "token" not found' }),
      words: /secret "token" not found/,
    },
    {
      name: 'crash loop',
      own: server({
        'sim.baton.dev/fault': 'crash',
        'sim.baton.dev/exit-code': '3',
        'sim.baton.dev/message': 'cannot open model.onnx',
      }),
      words: /3.*cannot open model\.onnx/s,
    },
    { name: 'out of memory', own: server({ 'sim.baton.dev/fault': 'oom-killed' }), words: /memory/i },
  ];
  for (const { name, own, words } of rows)
    test(name, async () => {
      const namespace = await rig.namespace();
      await model(namespace, own);
      const { status } = await says(namespace, words);
      equal(conditionOf(status, 'Ready')?.status, 'False');
    });
});
