// The life of a model on the real API server, with simulated pods: one story a test, told from outside.

import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { mark, MLModel } from '../../src/api/index.ts';
import {
  conditionOf,
  ControllerRevision,
  Deployment,
  Job,
  kstatusOf,
  type KubeObject,
  kindOf,
  PersistentVolumeClaim,
  Pod,
  Service,
  StorageClass,
} from '../../src/objects/index.ts';
import { crdOf } from '../../src/schema/index.ts';
import { eventually } from '../kit/eventually.ts';
import { untilReady } from '../kit/ready.ts';
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
const kubectl = (namespace: string, ...args: string[]) => must(rig.plane, ['-n', namespace, ...args]);

/** Waits for Ready of the current generation. */
const ready = (namespace: string, within = 60_000): Promise<MLModel> => untilReady(() => get(namespace), within);

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

/** Jobs that were made in a namespace since a point of the trace. */
const fetched = (namespace: string, since: number) =>
  rig.proxy.trace.writes({ resource: 'jobs', verb: 'create', namespace }).filter(({ seq }) => seq > since);

const uids = (objects: readonly KubeObject[]) => new Set(objects.map(({ metadata }) => metadata.uid));

describe('a model', { concurrency: 4 }, () => {
  test('goes from apply to Ready, and kubectl waits for it and watches it', async () => {
    const namespace = await rig.namespace();
    const watching = startWatching(namespace);
    await model(namespace, { expose: true });
    equal(kstatusOf(await get(namespace)) === 'Failed', false);
    await kubectl(namespace, 'wait', '--for=condition=Ready', 'mlm/iris', '--timeout=60s');
    const { status } = await ready(namespace);
    equal(status?.phase, 'Ready');
    match(status?.digest ?? '', /^sha256:/);
    match(status?.serviceEndpoint ?? '', /^iris-service\..*\.svc\.cluster\.local:8080$/);
    equal(conditionOf(status, 'Exposed')?.status, 'True');
    equal((await rig.admin.get(Service, { namespace, name: 'iris-service' })).spec.type, 'ClusterIP');
    equal(kstatusOf(await get(namespace)), 'Current');
    await eventually(async () => (await rig.list(Job, namespace)).length === 0, {
      what: 'the Job goes after the note',
    });
    const life = /iris +Downloading +False +Downloading +0 +\d+ .*iris +Ready +True +Serving +1 /s;
    await eventually(() => life.test(watching.said()), { what: 'kubectl shows its life' });
    watching.stop();
    match(watching.said(), /^NAME +PHASE +READY +REASON +REPLICAS +PERCENT +AGE/);
  });

  test('reads well with kubectl', async () => {
    const namespace = await rig.namespace();
    await model(namespace);
    await ready(namespace);
    match(await kubectl(namespace, 'get', 'mlm'), /^NAME +PHASE +READY +REASON.*\niris +Ready +True +Serving +1 /);
    match(
      await kubectl(namespace, 'get', 'mlm', '-o', 'wide'),
      /FRAMEWORK +REVISION +MESSAGE +URL +AGE\n.* onnx +\w+ +The model is served/,
    );
    match(await kubectl(namespace, 'get', 'baton'), /iris/);
    const described = await kubectl(namespace, 'describe', 'mlm', 'iris');
    match(described, /Model URL: +https:\/\/models\.example\/iris-1\.onnx/);
    match(described, /Message: +The model is served\n +Observed Generation: +1\n +Phase: +Ready/);
    doesNotMatch(described, /Warning/);
    const explained = await must(rig.plane, ['explain', 'mlm.spec']);
    for (const field of ['modelURL', 'storageSize', 'framework', 'replicas', 'rollout', 'retain'])
      match(explained, new RegExp(`^  ${field}\\t<\\S+>.*\\n(  enum: .*\\n)?    [A-Z]`, 'm'), field);
    match(await must(rig.plane, ['explain', 'mlm.status.download.percent']), /The part that is there/);
  });

  test('is explained by the API server, field by field, as its schema says', async () => {
    const served = JSON.parse(await must(rig.plane, ['get', '--raw', '/openapi/v3/apis/baton.dev/v1alpha1'])) as Served;
    const [version] = crdOf(MLModel).spec.versions;
    for (const part of ['spec', 'status']) {
      const told = fieldsOf(served.components.schemas['dev.baton.v1alpha1.MLModel']?.properties?.[part], part);
      deepEqual(told, fieldsOf((version?.schema.openAPIV3Schema as Schema | undefined)?.properties?.[part], part));
      for (const [path, description] of Object.entries(told)) match(description, /^[A-Z].*[.]$/s, path);
    }
  });

  test('a new source is fetched beside the old one, which serves until then; going back returns at once', async () => {
    const namespace = await rig.namespace();
    await model(namespace);
    const first = await ready(namespace);
    await model(namespace, { modelURL: 'https://models.example/iris-2.onnx' });
    const under = await says(namespace, /revision \w+ serves until then/);
    equal(conditionOf(under.status, 'Available')?.status, 'True');
    equal(kstatusOf(under), 'InProgress');
    const second = await ready(namespace);
    ok(second.status?.servingRevision !== first.status?.servingRevision);
    deepEqual(second.status?.history, [first.status?.servingRevision]);
    const since = rig.proxy.trace.mark();
    await model(namespace);
    await ready(namespace);
    deepEqual(fetched(namespace, since), [], 'nothing is fetched again');
  });

  test('scales by kubectl, also to zero', async () => {
    const namespace = await rig.namespace();
    await model(namespace);
    await ready(namespace);
    await kubectl(namespace, 'scale', 'mlm/iris', '--replicas=3');
    await eventually(async () => (await get(namespace)).status?.readyReplicas === 3, {
      what: 'three servers are ready',
    });
    const { status } = JSON.parse(await kubectl(namespace, 'get', '--raw', scaleOf(namespace))) as Scale;
    equal(status.replicas, 3);
    const selected = await kubectl(namespace, 'get', 'pods', '-l', status.selector, '-o', 'name');
    equal(selected.trim().split('\n').length, 3, 'the selector is the one that an autoscaler needs');
    await kubectl(namespace, 'scale', 'mlm/iris', '--replicas=0');
    await eventually(async () => conditionOf((await get(namespace)).status, 'Ready')?.reason === 'ScaledToZero');
    equal(kstatusOf(await get(namespace)), 'Current');
  });

  test('is deleted at any moment, and leaves nothing; with retain it leaves the volume', async () => {
    const namespace = await rig.namespace();
    await model(namespace, { retain: true });
    await ready(namespace);
    const twin = await twinOf(namespace);
    await rig.admin.delete(MLModel, { namespace, name: 'iris' });
    const gone = async () =>
      [...(await rig.list(Deployment, namespace)), ...(await rig.list(ControllerRevision, namespace))].length === 0;
    await eventually(gone, { within: 90_000, what: 'the children go' });
    equal((await rig.list(PersistentVolumeClaim, namespace)).length, 1, 'the volume stays');
    const { metadata } = await rig.admin.get(Pod, { namespace: twin.metadata.namespace ?? '', name: 'twin' });
    deepEqual([metadata.uid, metadata.deletionTimestamp], [twin.metadata.uid, undefined], 'a twin elsewhere stays');
    const since = rig.proxy.trace.mark();
    await model(namespace, { retain: true });
    await ready(namespace);
    deepEqual(fetched(namespace, since), [], 'and is taken up again with its weights');
  });
});

/** `kubectl get -w`, until it is stopped. */
function startWatching(namespace: string): { said: () => string; stop: () => void } {
  const { kubectlPath, kubeconfigPath } = rig.plane;
  const args = ['--kubeconfig', kubeconfigPath, '-n', namespace, 'get', 'mlm', '-w'];
  const child = spawn(kubectlPath, args, { stdio: ['ignore', 'pipe', 'ignore'], timeout: 90_000 });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return { said: () => said, stop: () => void child.kill() };
}

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Served {
  components: { schemas: Record<string, Schema> };
}

/** All fields below a schema, by their paths, with what `kubectl explain` says of them. */
const fieldsOf = (schema: Schema | undefined, under: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries((schema?.items ?? schema)?.properties ?? {}).flatMap(([name, field]) => [
      [`${under}.${name}`, field.description ?? ''],
      ...Object.entries(fieldsOf(field, `${under}.${name}`)),
    ]),
  );

interface Scale {
  status: { replicas: number; selector: string };
}

const scaleOf = (namespace: string) => `/apis/baton.dev/v1alpha1/namespaces/${namespace}/mlmodels/iris/scale`;

/** A pod with the labels of a server in another namespace, which this operator looks after as well. */
async function twinOf(namespace: string): Promise<Pod> {
  const [pod] = await rig.list(Pod, namespace);
  const metadata = { namespace: await rig.namespace(), name: 'twin', labels: pod?.metadata.labels ?? {} };
  const twin = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'twin', image: 'twin:1' }] } };
  return eventually(() => rig.admin.create(Pod, twin, { manager: 'somebody' }), { what: 'a pod can be made there' });
}

describe('a volume', { concurrency: 4 }, () => {
  /** The claim of a model whose class lets volumes grow. */
  async function served(namespace: string): Promise<PersistentVolumeClaim> {
    const name = `growing-${namespace}`;
    const provisioner = 'kubernetes.io/host-path';
    await rig.apply(StorageClass, { metadata: { name }, provisioner, allowVolumeExpansion: true });
    await model(namespace, { storageClassName: name });
    await ready(namespace);
    await model(namespace, { storageClassName: name, storageSize: '4Gi' });
    return eventually(
      async () => (await rig.list(PersistentVolumeClaim, namespace)).find((one) => sizeOf(one) === '4Gi'),
      { what: 'the claim asks for more' },
    );
  }
  const sizeOf = ({ spec: { resources } }: PersistentVolumeClaim) => resources?.requests?.storage;
  // Volumes on a host path cannot grow: the test plays whoever resizes them.
  const resized = (namespace: string, { metadata: { name } }: KubeObject, status: object) =>
    kubectl(namespace, 'patch', 'pvc', name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status }));

  test('grows under servers that go on', async () => {
    const namespace = await rig.namespace();
    const claim = await served(namespace);
    const pods = uids(await rig.list(Pod, namespace));
    await resized(namespace, claim, { capacity: { storage: '4Gi' } });
    const { status } = await ready(namespace);
    equal(conditionOf(status, 'StorageChangeIgnored'), undefined);
    await pause(1_000);
    deepEqual(uids(await rig.list(Pod, namespace)), pods);
    deepEqual(uids(await rig.list(PersistentVolumeClaim, namespace)), uids([claim]));
  });

  test('that cannot grow says why, and the model is served all the same', async () => {
    const namespace = await rig.namespace();
    const claim = await served(namespace);
    const message = 'rpc error: code = OutOfRange desc = no room in pool 7';
    const failed = { type: 'ControllerResizeError', status: 'True', reason: 'ResizeFailed', message };
    await resized(namespace, claim, { conditions: [failed] });
    const told = async () => conditionOf((await get(namespace)).status, 'StorageChangeIgnored')?.message;
    await eventually(async () => /cannot grow: .*no room in pool 7/.test((await told()) ?? ''));
    await ready(namespace);
  });
});

describe('without room for one more server', { concurrency: 3 }, () => {
  const ResourceQuota = kindOf<KubeObject>('v1', 'ResourceQuota', 'resourcequotas');
  const big = (cpu: string) => ({ resources: { requests: { cpu } } });
  const other = { server: { args: ['serve', '--model={model}', '--threads=2'] } };

  /** Takes over in the place of what runs, says so before, and ends Ready. */
  async function yields(namespace: string, cpu: string): Promise<void> {
    await model(namespace, big(cpu));
    const first = await ready(namespace);
    await model(namespace, { ...big(cpu), ...other });
    await says(namespace, /takes the place of the old one, because there is no room beside it: there is a gap/);
    const second = await ready(namespace);
    ok(second.status?.servingRevision !== first.status?.servingRevision);
  }

  test('on the nodes, a new revision takes the place of the old one, and says why there is a gap', async () =>
    yields(await rig.namespace(), '40'));

  test('in a quota, it does the same', async () => {
    const namespace = await rig.namespace();
    const hard = { 'requests.cpu': '300m' };
    await rig.apply(ResourceQuota, { metadata: { namespace, name: 'small' }, spec: { hard } });
    await yields(namespace, '200m');
  });

  test('anywhere, however many servers went, what answers stays until somebody asks for less', async () => {
    const namespace = await rig.namespace();
    const rollout = { progressDeadlineSeconds: 30 };
    await model(namespace, { ...big('1'), rollout });
    const first = await ready(namespace);
    await model(namespace, { ...big('100k'), rollout });
    const late = await says(namespace, /cannot be scheduled: .*Insufficient cpu.*add capacity, or ask for less/);
    equal(conditionOf(late.status, 'Available')?.status, 'True');
    const failed = await eventually(
      async () => {
        const now = await get(namespace);
        return conditionOf(now.status, 'Stalled')?.status === 'True' ? now : undefined;
      },
      { within: 60_000, what: 'its deadline passes' },
    );
    equal(conditionOf(failed.status, 'Available')?.status, 'True');
    equal(failed.status?.servingRevision, first.status?.servingRevision);
  });
});

describe('another operator', () => {
  const children = async (namespace: string) => {
    const kinds = [ControllerRevision, PersistentVolumeClaim, Deployment, Service, Pod];
    const lists = await Promise.all(kinds.map((kind) => rig.list<KubeObject>(kind, namespace)));
    return lists.flat().map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
  };
  const models: Record<string, object> = {
    onnx: {},
    tensorflow: { framework: 'tensorflow', replicas: 2, expose: true },
    custom: { framework: 'custom', server: { image: 'mine:1', port: 7000 } },
  };

  test('of the same build writes nothing at all', async () => {
    const namespace = await rig.namespace();
    await model(namespace);
    await ready(namespace);
    await operator.kill();
    const since = rig.proxy.trace.mark();
    operator = await rig.operator();
    await eventually(async () => (await operator.probe('/readyz')).status === 200);
    await pause(2_000);
    const written = rig.proxy.trace.writes({ namespace }).filter(({ seq }) => seq > since);
    deepEqual(written, []);
  });

  test('whose image, framework table and pod builder differ touches nothing that serves, and says Outdated', async () => {
    const namespaces = await Promise.all(Object.values(models).map(() => rig.namespace()));
    await Promise.all(Object.values(models).map((own, index) => model(namespaces[index] ?? '', own)));
    for (const namespace of namespaces) await ready(namespace);
    const untouched = await Promise.all(namespaces.map(children));
    await operator.kill();
    operator = await rig.operator({ build: 'another' });
    const outdated = async (namespace: string) => conditionOf((await get(namespace)).status, 'Outdated')?.status;
    for (const namespace of namespaces)
      await eventually(async () => (await outdated(namespace)) === 'True', { what: 'it is outdated' });
    await pause(2_000);
    deepEqual(await Promise.all(namespaces.map(children)), untouched);
    for (const namespace of namespaces) {
      equal(kstatusOf(await ready(namespace)), 'Current');
      const pods = uids(await rig.list(Pod, namespace));
      await kubectl(namespace, 'annotate', 'mlm/iris', `${mark.refresh}=now`);
      await eventually(async () => (await outdated(namespace)) === 'False', { what: 'it is refreshed' });
      await ready(namespace);
      const anew = await rig.list(Pod, namespace);
      ok(!anew.some(({ metadata }) => pods.has(metadata.uid)), 'all servers are new');
      equal(anew[0]?.spec['terminationGracePeriodSeconds'], 82, 'as this build makes them');
    }
  });
});
