// Rights that an undisturbed life never uses, each with the disturbance that needs it, for every kind of child: a stranger
// under a child's name is looked at, what somebody changed is put back, a copy that nobody wants goes, and an API server
// that does not stream its lists is asked for pages. `tools/recorded` holds the roles to what was used.

import { equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DeviceTemplate, MLModel, ModelDeployment } from '../../src/api/index.ts';
import type { Parent } from '../../src/kube/define.ts';
import {
  conditionOf,
  ControllerRevision,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  type Kind,
  type KubeObject,
  Module,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { withKmm } from '../kit/kmm/installed.ts';
import { untilReady } from '../kit/ready.ts';
import { must, type Rig, startRig } from '../kit/rig.ts';
import { befalls } from './causes/case.ts';

const name = 'iris';
const source = { modelURL: 'https://models.example/iris.onnx', storageSize: '1Gi', framework: 'onnx' };
/** A Job goes when it has done its work: there is time to disturb it. */
const spec = { ...source, replicas: 2, ...befalls('download', { 'run-for': '10s' }) };
const selector = { matchLabels: { app: 'theirs' } };
const pod = { containers: [{ name: 'main', image: 'theirs' }] };
const template = { metadata: { labels: { app: 'theirs' } }, spec: pod };

/** What somebody else would make of each kind of child. */
const theirs: [Kind, object][] = [
  [PersistentVolumeClaim, { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
  [Job, { spec: { suspend: true, template: { spec: { ...pod, restartPolicy: 'Never' } } } }],
  [ControllerRevision, { revision: 1, data: {} }],
  [Deployment, { spec: { replicas: 0, selector, template } }],
  [Service, { spec: { ports: [{ port: 80 }], selector: selector.matchLabels } }],
  [PodDisruptionBudget, { spec: { maxUnavailable: 1, selector } }],
];

/** Who is disturbed, and by what under the names of its children. */
interface Disturbed {
  kind: Kind<Parent>;
  spec: object;
  theirs: readonly [Kind, object][];
}

const model: Disturbed = { kind: MLModel, spec, theirs };

/** The same rights are used by a model; this child it has not, and it can be asked not to have it. */
const scaled: Disturbed = {
  kind: ModelDeployment,
  spec: { image: `registry.example/iris@sha256:${'a'.repeat(64)}`, minReplicas: 2, maxReplicas: 3 },
  theirs: [
    [
      HorizontalPodAutoscaler,
      { spec: { maxReplicas: 1, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'theirs' } } },
    ],
  ],
};

const loader = { modprobe: { moduleName: 'theirs' }, kernelMappings: [{ regexp: '^.+$', containerImage: 'theirs:1' }] };

/** These children it alone has. */
const devices: Disturbed = {
  kind: DeviceTemplate,
  spec: { selector: { 'kubernetes.io/os': 'linux' }, plugin: 'registry.example/plugin:1' },
  theirs: [
    [Module, { spec: { moduleLoader: { container: loader }, selector: { none: 'x' } } }],
    [DaemonSet, { spec: { selector, template } }],
  ],
};

/** Every further kind, with the children that none of those above has. */
const others: readonly Disturbed[] = [devices];

const ask = (rig: Rig, namespace: string, { kind, spec: asked }: Disturbed) =>
  rig.apply(kind, { metadata: { namespace, name }, spec: asked });
const ready = (rig: Rig, namespace: string, { kind }: Disturbed) =>
  untilReady(() => rig.admin.get(kind, { namespace, name }));

/** The one child of a kind, by its label. */
async function childOf(rig: Rig, kind: Kind, namespace: string): Promise<KubeObject> {
  const children = (await rig.list(kind, namespace)).filter((one) => one.metadata.labels?.['baton.dev/name'] === name);
  const [child] = children;
  if (!child) throw new Error(`there is no ${kind.kind}`);
  return child;
}

describe('a model that is disturbed', () => {
  test('looks at what stands in the way, puts back what was changed, and removes what it does not want', async (t) => {
    const rig = await startRig({ nodes: 1 }, withKmm);
    t.after(() => rig.stop());
    await rig.operator();
    const home = await rig.namespace();
    await ask(rig, home, model);
    const job = await eventually(() => childOf(rig, Job, home), { what: 'there is a Job' });
    await putsBack(rig, [Job, job]);
    await ready(rig, home, model);
    const lasting = theirs.filter(([kind]) => kind !== Job).map(([kind]) => kind);
    const children = await Promise.all(lasting.map(async (kind) => [kind, await childOf(rig, kind, home)] as const));
    await Promise.all(children.map((child) => putsBack(rig, child)));
    await removesACopy(
      rig,
      home,
      theirs.find(([kind]) => kind === Deployment),
    );
    const names = new Map<Kind, string>(
      [[Job, job] as const, ...children].map(([kind, child]) => [kind, child.metadata.name]),
    );
    await disturbsScaled(rig);
    for (const other of others) await disturbs(rig, other);
    await Promise.all(theirs.map((stranger) => leavesAlone(rig, model, stranger, names.get(stranger[0]) ?? '')));
  });

  test('is told in pages by an API server that does not stream its lists', async (t) => {
    const flags = { 'kube-apiserver': ['--feature-gates=WatchList=false'] };
    const rig = await startRig({ nodes: 1, flags }, withKmm);
    t.after(() => rig.stop());
    await rig.operator();
    const namespace = await rig.namespace();
    await ask(rig, namespace, model);
    await ready(rig, namespace, model);
    const listed = rig.proxy.trace.calls.filter(({ verb, answer }) => verb === 'list' && answer?.status === 200);
    ok(listed.some(({ resource }) => resource === 'mlmodels'));
  });
});

/** A child that nobody asks for any more is taken away. */
async function disturbsScaled(rig: Rig): Promise<void> {
  const namespace = await rig.namespace();
  await ask(rig, namespace, scaled);
  await ready(rig, namespace, scaled);
  for (const stranger of scaled.theirs) {
    const [kind] = stranger;
    const child = await childOf(rig, kind, namespace);
    await putsBack(rig, [kind, child]);
    await leavesAlone(rig, scaled, stranger, child.metadata.name);
    const { minReplicas: _least, maxReplicas: _most, ...fixed } = scaled.spec as Record<string, unknown>;
    await ask(rig, namespace, { ...scaled, spec: fixed });
    await eventually(async () => (await rig.get(kind, namespace, child.metadata.name)) === undefined, {
      what: 'what nobody wants any more goes',
    });
  }
}

async function putsBack(rig: Rig, [kind, { metadata }]: readonly [Kind, KubeObject]): Promise<void> {
  const { namespace = '', name: child } = metadata;
  await must(rig.plane, ['-n', namespace, 'label', kind.plural, child, 'baton.dev/name-']);
  const label = async () => (await rig.admin.get(kind, { namespace, name: child })).metadata.labels?.['baton.dev/name'];
  await eventually(async () => (await label()) === name, { what: `${child} has its label again` });
}

async function removesACopy(
  rig: Rig,
  namespace: string,
  of: readonly [Kind, object] = [Deployment, {}],
): Promise<void> {
  const [kind, body] = of;
  const { metadata } = await childOf(rig, kind, namespace);
  const { labels, ownerReferences } = metadata;
  await rig.apply(kind, { metadata: { namespace, name: 'copy', labels, ownerReferences }, ...body });
  // KMM holds a Module while its devices are in use.
  const left = async () => (await rig.get(kind, namespace, 'copy'))?.metadata;
  await eventually(async () => (await left())?.deletionTimestamp !== undefined || !(await left()), {
    what: 'the copy goes',
  });
}

/** A kind whose children are there as soon as it is Ready. */
async function disturbs(rig: Rig, disturbed: Disturbed): Promise<void> {
  const namespace = await rig.namespace();
  await ask(rig, namespace, disturbed);
  await ready(rig, namespace, disturbed);
  for (const stranger of disturbed.theirs) {
    const [kind] = stranger;
    const child = await childOf(rig, kind, namespace);
    await putsBack(rig, [kind, child]);
    await removesACopy(rig, namespace, stranger);
    await leavesAlone(rig, disturbed, stranger, child.metadata.name);
  }
}

async function leavesAlone(
  rig: Rig,
  disturbed: Disturbed,
  [kind, body]: readonly [Kind, object],
  child: string,
): Promise<void> {
  const namespace = await rig.namespace();
  await rig.apply(kind, { metadata: { namespace, name: child }, ...body });
  await ask(rig, namespace, disturbed);
  const stalled = async () => conditionOf((await rig.get(disturbed.kind, namespace, name))?.status, 'Stalled');
  await eventually(async () => (await stalled())?.reason === 'OwnershipConflict', { what: `${child} is in the way` });
  match((await stalled())?.message ?? '', new RegExp(`^${kind.kind} ${child} exists already`));
  equal((await rig.get(kind, namespace, child))?.metadata.labels?.['baton.dev/name'], undefined);
}
