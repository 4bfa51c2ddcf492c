// The life of a ModelDeployment on the real API server and real registries, with simulated pods: one story a test, told from
// outside. What it shares with a model is told there.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { mark, ModelDeployment, sayLastWord } from '../../src/api/index.ts';
import {
  conditionOf,
  ControllerRevision,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  type Kind,
  kstatusOf,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { wordsOf } from '../kit/lane.ts';
import type { RunningOperator } from '../kit/process.ts';
import { untilReady } from '../kit/ready.ts';
import { pullSecret, startRegistry, type TestRegistry, user } from '../kit/registry.ts';
import { must, product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
let open: TestRegistry;
let closed: TestRegistry;
let operator: RunningOperator;
before(async () => {
  [rig, open, closed] = await Promise.all([
    startRig({ nodes: 1 }, product),
    startRegistry(),
    startRegistry({ open: false }),
  ]);
  operator = await rig.operator({ plainRegistries: [open.host, closed.host] });
});
after(async () => {
  const forbidden = rig.proxy.trace.requests({}).filter(({ answer }) => answer?.status === 403);
  const written = rig.proxy.trace.writes({}).map(({ body }) => body);
  await Promise.all([rig.stop(), open.stop(), closed.stop()]);
  deepEqual(forbidden, [], 'the generated roles are enough for every story');
  ok(!written.some((body) => body.includes(user.password)), 'a password was written');
});

const name = 'income';
const asked = (namespace: string, spec: object, metadata: object = {}) =>
  rig.apply(ModelDeployment, { metadata: { namespace, name, ...metadata }, spec });
const get = (namespace: string) => rig.admin.get(ModelDeployment, { namespace, name });
const ready = (namespace: string) => untilReady(() => get(namespace));
const kubectl = (namespace: string, ...args: string[]) => must(rig.plane, ['-n', namespace, ...args]);

/** What the servers run. */
async function running(namespace: string): Promise<string | undefined> {
  const { spec } = await rig.admin.get(Deployment, { namespace, name: `${name}-model` });
  return spec.template.spec.containers[0]?.image;
}

const stalled = (namespace: string, reason: string): Promise<ModelDeployment> =>
  eventually(
    async () => {
      const now = await get(namespace);
      const { status, reason: told } = conditionOf(now.status, 'Stalled') ?? {};
      deepEqual([status, told], ['True', reason]);
      return now;
    },
    { within: 60_000, what: `it stalls with ${reason}` },
  );

describe('a ModelDeployment', { concurrency: 4 }, () => {
  test('the seed’s sample, but for its apiVersion and its registry, becomes Ready and is scaled by its autoscaler', async () => {
    const namespace = await rig.namespace();
    const path = join(import.meta.dirname, '../../examples/modeldeployment.yaml');
    const sample = parse(readFileSync(path, 'utf8')) as ModelDeployment;
    const digest = await open.push('models/income:1.0');
    const image = sample.spec.image.replace('registry.example.com', open.host);
    await asked(namespace, { ...sample.spec, image, minReplicas: 2 });
    await kubectl(namespace, 'wait', '--for=condition=Ready', `md/${name}`, '--timeout=60s');
    const { status } = await ready(namespace);
    equal(status?.digest, digest);
    equal(await running(namespace), `${open.host}/models/income@${digest}`);
    equal(status?.serviceURL, `http://${name}-model.${namespace}.svc.cluster.local:5000`);
    equal(kstatusOf(await get(namespace)), 'Current');
    const { spec: address } = await rig.admin.get(Service, { namespace, name: status?.service ?? '' });
    deepEqual([address.ports?.[0]?.port, address.type], [5000, 'ClusterIP']);
    const autoscaler = await rig.admin.get(HorizontalPodAutoscaler, { namespace, name: `${name}-model` });
    deepEqual([autoscaler.spec.minReplicas, autoscaler.spec.maxReplicas], [2, 3]);
    await eventually(async () => (await get(namespace)).spec.replicas === 2, {
      within: 60_000,
      what: 'the autoscaler writes the least number of servers',
    });
    const scaling = await eventually(
      async () => {
        const condition = conditionOf((await get(namespace)).status, 'Autoscaled');
        return condition?.reason === 'FailedGetResourceMetric' ? condition : undefined;
      },
      { within: 60_000, what: 'the autoscaler misses its metrics' },
    );
    match(scaling.message, /metrics-server/);
    equal((await ready(namespace)).status?.availableReplicas, 2);
    equal((await rig.list(PodDisruptionBudget, namespace)).length, 1);
  });

  test('reads well with kubectl', async () => {
    const namespace = await rig.namespace();
    await open.push('models/read:1');
    await asked(namespace, { image: `${open.host}/models/read:1` });
    await ready(namespace);
    const line = await kubectl(namespace, 'get', 'md');
    match(
      line,
      /^NAME +PHASE +READY +REASON +REPLICAS +IMAGE +AGE\nincome +Ready +True +Serving +1 +\S+\/models\/read:1 /,
    );
    match(
      await kubectl(namespace, 'get', 'md', '-o', 'wide'),
      /URL +REVISION +MESSAGE +AGE\n.* http:\S+:5000 +\w+ +The model is served/,
    );
    match(await kubectl(namespace, 'get', 'baton'), /income/);
    const explained = await must(rig.plane, ['explain', 'md.spec']);
    for (const field of ['image', 'minReplicas', 'readinessProbeInitialDelay', 'healthPath', 'annotations'])
      match(explained, new RegExp(`^  ${field}\\t<\\S+>.*\\n    [A-Z]`, 'm'), field);
  });

  test('a tag is looked up once: scaling asks for nothing new, an edit does, and going back returns', async () => {
    const namespace = await rig.namespace();
    const image = `${open.host}/models/moving`;
    const first = await open.push('models/moving:1');
    await asked(namespace, { image: `${image}:1` });
    const { status } = await ready(namespace);
    equal(await running(namespace), `${image}@${first}`);
    const second = await open.push('models/moving:1');
    await kubectl(namespace, 'scale', `md/${name}`, '--replicas=3');
    await eventually(async () => (await get(namespace)).status?.availableReplicas === 3);
    equal(await running(namespace), `${image}@${first}`);
    await asked(namespace, { image: `${image}:1`, replicas: 3, env: [{ name: 'A', value: 'b' }] });
    const edited = await ready(namespace);
    deepEqual([edited.status?.digest, edited.status?.history], [second, [status?.revision]]);
    await asked(namespace, { image: `${image}:1`, replicas: 3 });
    equal((await ready(namespace)).status?.digest, first);
    await kubectl(namespace, 'annotate', `md/${name}`, `${mark.refresh}=now`);
    await eventually(async () => (await running(namespace)) === `${image}@${second}`, {
      what: 'a refresh looks again',
    });
    await kubectl(namespace, 'scale', `md/${name}`, '--replicas=0');
    await eventually(async () => conditionOf((await get(namespace)).status, 'Ready')?.reason === 'ScaledToZero');
  });

  test('what serves goes on while another image is looked for, and the message says both', async () => {
    const namespace = await rig.namespace();
    await open.push('models/steady:1');
    await asked(namespace, { image: `${open.host}/models/steady:1` });
    const first = await ready(namespace);
    await asked(namespace, { image: `${open.host}/models/steady:2` });
    const { status } = await stalled(namespace, 'SourceNotFound');
    match(status?.message ?? '', /models\/steady.*revision \w+ serves$/s);
    equal(status?.lastRevisionName, first.status?.lastRevisionName);
    equal(conditionOf(status, 'Available')?.status, 'True');
    await open.push('models/steady:2', 'index');
    await kubectl(namespace, 'annotate', `md/${name}`, `${mark.retry}=now`);
    ok((await ready(namespace)).status?.lastRevisionName !== first.status?.lastRevisionName);
  });

  test('a private image is looked at by a Job with the pull secret, which goes when it has told', async () => {
    const namespace = await rig.namespace();
    const digest = await closed.push('models/private:1');
    const image = `${closed.host}/models/private:1`;
    await asked(namespace, { image });
    match((await stalled(namespace, 'SourceUnauthorized')).status?.message ?? '', /imagePullSecrets/);
    const data = { '.dockerconfigjson': Buffer.from(pullSecret(closed.host)).toString('base64') };
    await rig.apply(Secret, { metadata: { namespace, name: 'pull' }, type: 'kubernetes.io/dockerconfigjson', data });
    const word = sayLastWord({ result: 'done', digest, bytes: 20, mountable: true });
    const podAnnotations = { 'sim.baton.dev/container': 'inspect', 'sim.baton.dev/message': word };
    await asked(namespace, { image, imagePullSecrets: [{ name: 'pull' }], podAnnotations });
    equal((await ready(namespace)).status?.digest, digest);
    await eventually(async () => (await rig.list(Job, namespace)).length === 0, { what: 'the Job goes' });
  });

  test('what the API server rounds up is written once', async () => {
    const namespace = await rig.namespace();
    await open.push('models/little:1');
    const resources = { requests: { cpu: '0.1m', memory: '64Mi' }, limits: { cpu: '100u' } };
    await asked(namespace, { image: `${open.host}/models/little:1`, resources });
    await ready(namespace);
    const since = rig.proxy.trace.mark();
    await kubectl(namespace, 'label', `md/${name}`, 'touched=yes');
    await pause(2_000);
    const written = rig.proxy.trace.writes({ namespace }).filter(({ seq }) => seq > since);
    deepEqual(written.map(wordsOf), []);
  });

  test('says that it is being deleted while somebody holds it', async () => {
    const namespace = await rig.namespace();
    await open.push('models/held:1');
    await asked(namespace, { image: `${open.host}/models/held:1` });
    await ready(namespace);
    await kubectl(
      namespace,
      'patch',
      `md/${name}`,
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":["example.com/hold"]}}',
    );
    await rig.admin.delete(ModelDeployment, { namespace, name });
    const told = await eventually(
      async () => {
        const status = (await rig.get(ModelDeployment, namespace, name))?.status;
        return status?.phase === 'Deleting' ? status : undefined;
      },
      { what: 'it says so' },
    );
    equal(conditionOf(told, 'Ready')?.reason, 'Deleting');
    await kubectl(namespace, 'patch', `md/${name}`, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    await eventually(async () => (await rig.get(ModelDeployment, namespace, name)) === undefined, { what: 'it goes' });
  });

  test('is deleted at any moment, and leaves nothing', async () => {
    const namespace = await rig.namespace();
    await open.push('models/gone:1');
    await asked(namespace, { image: `${open.host}/models/gone:1`, maxReplicas: 2 });
    await ready(namespace);
    await rig.admin.delete(ModelDeployment, { namespace, name });
    const kinds: Kind[] = [Deployment, Service, ControllerRevision, HorizontalPodAutoscaler, PodDisruptionBudget];
    const left = async () => (await Promise.all(kinds.map((kind) => rig.list(kind, namespace)))).flat();
    await eventually(async () => (await left()).length === 0, { within: 90_000, what: 'the children go' });
  });
});

describe('what makes no sense is refused, with the field and the way out', () => {
  const image = 'registry.example/a:1';
  const rows: [spec: object, words: RegExp][] = [
    [{}, /spec\.image: Required value/],
    [{ image: 'Not An Image' }, /spec\.image: .*must be the name of an image: registry\.example\/team\/model:tag/],
    [{ image: 'registry.example/Upper:1' }, /spec\.image/],
    [{ image: `${image}@sha256:short` }, /spec\.image/],
    [{ image, minReplicas: 3, maxReplicas: 2 }, /spec\.minReplicas: .*must not be greater than maxReplicas/],
    [{ image, minReplicas: 2 }, /spec\.minReplicas: .*which is 1 if left out/],
    [{ image, maxReplicas: 0 }, /spec\.maxReplicas/],
    [{ image, target: { cpu: 50 } }, /spec\.target: .*name maxReplicas, too/],
    [{ image, maxReplicas: 2, target: { cpu: 50, concurrency: 3 } }, /spec\.target: .*either cpu or concurrency/],
    [{ image, livenessProbeInitialDelay: 600 }, /spec\.livenessProbeInitialDelay: .*progressDeadlineSeconds/],
    [{ image, readinessProbeInitialDelay: 600 }, /spec\.readinessProbeInitialDelay: .*progressDeadlineSeconds/],
    [{ image, livenessProbeInitialDelay: -1 }, /spec\.livenessProbeInitialDelay/],
    [{ image, annotations: { 'baton.dev/revision': 'x' } }, /spec\.annotations: .*are ours/],
    [{ image, healthPath: 'healthcheck' }, /spec\.healthPath/],
    [{ image, replica: 2 }, /unknown field "spec\.replica"/],
  ];
  for (const [spec, words] of rows)
    test(JSON.stringify(spec), async () => {
      const { apiVersion, kind } = ModelDeployment;
      const text = JSON.stringify({ apiVersion, kind, metadata: { name }, spec });
      const args = ['-n', 'default', 'apply', '--dry-run=server', '--validate=strict', '-f', '-'];
      await rejects(must(rig.plane, args, text), words);
    });

  test('and what does is not', async () => {
    const namespace = await rig.namespace();
    for (const good of [
      'model',
      'legion/model:1.0',
      'localhost:5000/a/b_c.d',
      `a.example/b:1@sha256:${'a'.repeat(64)}`,
    ])
      await asked(namespace, { image: good, replicas: 0 });
  });
});

test('another build of the operator touches nothing that serves, and says Outdated until it is asked', async () => {
  const namespace = await rig.namespace();
  await open.push('models/old:1');
  await asked(namespace, { image: `${open.host}/models/old:1`, replicas: 2 });
  await ready(namespace);
  const children = async () => {
    const kinds: Kind[] = [ControllerRevision, Deployment, Service, PodDisruptionBudget, Pod];
    const lists = await Promise.all(kinds.map((kind) => rig.list(kind, namespace)));
    return lists.flat().map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
  };
  const outdated = async () => conditionOf((await get(namespace)).status, 'Outdated')?.status;
  const untouched = await children();
  await operator.kill();
  operator = await rig.operator({ build: 'another', plainRegistries: [open.host, closed.host] });
  await eventually(async () => (await outdated()) === 'True', { what: 'it is outdated' });
  await pause(2_000);
  deepEqual(await children(), untouched);
  await kubectl(namespace, 'annotate', `md/${name}`, `${mark.refresh}=now`);
  await eventually(async () => (await outdated()) === 'False', { what: 'it is refreshed' });
  equal((await ready(namespace)).status?.availableReplicas, 2);
});
