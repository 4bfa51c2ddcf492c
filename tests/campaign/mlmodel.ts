// What the campaign must know of an MLModel: see meaning.ts. The world is simulated: pods of servers start at once, and a
// download takes as long as an annotation says.

import { mark, MLModel } from '../../src/api/index.ts';
import { revisionName } from '../../src/controllers/mlmodel/index.ts';
import {
  conditionOf,
  ControllerRevision,
  Deployment,
  isOfKind,
  Job,
  type KubeObject,
  label,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../src/objects/index.ts';
import { product, type Rig } from '../kit/rig.ts';
import type { World } from '../kit/subject.ts';
import type { Document, Mask, Meanings, Shows, Trail } from './meaning.ts';
import type { Json } from './property.ts';
import { furniture } from './words.ts';

/** A download that takes a moment. */
const quick = { 'sim.baton.dev/container': 'download', 'sim.baton.dev/run-for': '200ms' };

const onnx = {
  modelURL: 'https://models.example/one.onnx',
  storageSize: '1Gi',
  framework: 'onnx',
  rollout: { history: 0, progressDeadlineSeconds: 60 },
  podAnnotations: quick,
};

const bases: Document[] = [
  { spec: onnx },
  { spec: { ...onnx, framework: 'tensorflow', replicas: 2, expose: true, accessMode: 'ReadWriteMany' } },
  { spec: { ...onnx, framework: 'custom', server: { image: 'own:1', port: 9000 }, env: [{ name: 'A', value: '1' }] } },
  {
    spec: {
      ...onnx,
      modelURL: `pvc://${furniture.claim}/folder`,
      storageSize: undefined,
      rollout: { history: 0, strategy: 'replace', progressDeadlineSeconds: 60 },
    },
  },
];

type Spec = MLModel['spec'];
const specOf = (spec: Json): Spec => spec as Spec;

/** A source that no model had before, so that it is fetched. */
let sources = 0;
const fetched = (spec: Json): Json =>
  specOf(spec).modelURL?.startsWith?.('https:')
    ? { ...specOf(spec), modelURL: `https://models.example/fetched-${++sources}.onnx` }
    : spec;

/** The document with these fields of the spec. */
const asking =
  (fields: Json) =>
  (document: Document): Document => ({ ...document, spec: { ...specOf(document.spec), ...(fields as object) } });

const servedBy = (model: MLModel, now: World): Deployment | undefined =>
  now.get(Deployment, `${model.metadata.name}-server`);

const argumentsOf = ({ seen, parent, now }: Trail<MLModel>): string[][] =>
  seen
    .filter((object) => isOfKind(object, Job))
    .filter(({ metadata }) => metadata.labels?.[mark.weights] === claimOf(parent, now))
    .map((job) => job.spec.template.spec.containers[0]?.args ?? []);

/** The claim of the weights that are asked for. */
const claimOf = (model: MLModel, now: World): string | undefined =>
  now
    .all(ControllerRevision)
    .filter(({ metadata }) => metadata.labels?.[label.name] === model.metadata.name)
    .filter(({ metadata }) => metadata.labels?.[mark.revision] === model.status?.revision)
    .map(({ data }) => (data as { source?: { claim?: string } }).source?.claim)[0];

const claimsIn = ({ seen }: Trail): PersistentVolumeClaim[] =>
  seen.filter((object) => isOfKind(object, PersistentVolumeClaim));

/** Whether a revision was told to the servers: for what decides it without standing in it. */
const rolled: Shows<MLModel> = (_value, { parent, now }) =>
  servedBy(parent, now)?.metadata.annotations?.[mark.revision] === revisionName(parent);

const strategies: Record<string, Json> = { auto: 1, surge: 1, replace: 0 };

const shows: Record<string, Shows<MLModel>> = {
  'spec.modelURL': (value, trail) => rolled(value, trail) && isHandedOn(value, argumentsOf(trail)),
  'spec.storageSize': (_value, { parent, now }) =>
    conditionOf(parent.status, 'StorageShrinkIgnored') !== undefined ||
    conditionOf(parent.status, 'StorageChangeIgnored') !== undefined ||
    parent.spec.storageSize === undefined ||
    parent.spec.modelURL.startsWith('pvc:') ||
    now.all(PersistentVolumeClaim).length > 0,
  'spec.framework': rolled,
  'spec.replicas': (_value, { parent, now }) => servedBy(parent, now)?.spec.replicas === parent.spec.replicas,
  'spec.expose': (_value, { parent, now }) =>
    (now.get(Service, `${parent.metadata.name}-expose`) !== undefined) === parent.spec.expose,
  'spec.digest': (value, trail) =>
    value === undefined || trail.parent.status?.digest === value || trail.parent.spec.modelURL.startsWith('pvc:'),
  'spec.credentials': (value, trail) =>
    value === undefined ||
    trail.seen.some(
      (object) => isOfKind(object, Job) && JSON.stringify(object).includes(`"secretName":"${String(value)}"`),
    ),
  'spec.accessMode': (value, trail) =>
    trail.parent.spec.modelURL.startsWith('pvc:') ||
    claimsIn(trail).some(({ spec }) => JSON.stringify(spec.accessModes) === JSON.stringify([value])),
  'spec.storageClassName': (value, trail) =>
    value === undefined ||
    trail.parent.spec.modelURL.startsWith('pvc:') ||
    claimsIn(trail).some(({ spec }) => spec.storageClassName === value),
  'spec.retain': (_value, { parent, now }) =>
    now
      .all(PersistentVolumeClaim)
      .filter(({ metadata }) => metadata.labels?.[label.name] === parent.metadata.name)
      .every(({ metadata }) => (metadata.ownerReferences === undefined) === parent.spec.retain),
  'spec.rollout.strategy': (value, { parent, now }) => {
    const { maxSurge } = (servedBy(parent, now)?.spec as { strategy?: { rollingUpdate?: { maxSurge: Json } } }).strategy
      ?.rollingUpdate ?? { maxSurge: undefined };
    return maxSurge === strategies[String(value ?? 'auto')];
  },
  'spec.rollout.progressDeadlineSeconds': (value, { parent, now }) =>
    (servedBy(parent, now)?.spec as { progressDeadlineSeconds?: Json }).progressDeadlineSeconds === value,
  'spec.rollout.history': (_value, { parent }) => (parent.status?.history ?? []).length <= parent.spec.rollout.history,
};

/** A source is one whole argument of the download, the last; weights that were there need none. */
const isHandedOn = (url: Json, lists: readonly (readonly string[])[]): boolean =>
  !/^(https?|s3|hf):/.test(JSON.stringify(url).slice(1)) ||
  lists.every((args) => args.at(-2) === '--' && args.at(-1) === url);

/** Fields that are told to pods, in which they show. */
const inPods =
  /^spec\.(server|env|resources|nodeSelector|tolerations|imagePullSecrets|serviceAccountName|podLabels|podAnnotations|priorityClassName|runtimeClassName)/;

const isIgnored = (type: string) => (model: MLModel) => conditionOf(model.status, type)?.status === 'True';

const ofThePast: Mask<MLModel>[] = [
  { field: 'Deployment metadata.generation', because: 'counts the edits' },
  { field: 'Deployment metadata.annotations.deployment.kubernetes.io/revision', because: 'counts the rollouts' },
  { field: `Deployment metadata.annotations.${mark.served}`, because: 'lists what served before' },
  { field: `Deployment metadata.annotations.${mark.rollout}`, because: 'tells how this revision took over' },
  { field: 'Deployment spec.strategy.rollingUpdate', because: 'a takeover that found no room stays one by one' },
  { field: 'ControllerRevision revision', because: 'counts the revisions' },
  { field: 'ControllerRevision data.startSeconds', because: 'a revision keeps the time to start that it was cut with' },
  { field: 'ControllerRevision data.template.spec.containers.*.startupProbe.failureThreshold', because: 'the same' },
  { field: 'Deployment spec.template.spec.containers.*.startupProbe.failureThreshold', because: 'the same' },
  { field: 'MLModel status.history', because: 'lists what can be returned to' },
  {
    field: 'PersistentVolumeClaim spec.resources',
    because: 'volumes do not shrink, and some do not grow',
    when: (model) => isIgnored('StorageShrinkIgnored')(model) || isIgnored('StorageChangeIgnored')(model),
  },
  {
    field: 'PersistentVolumeClaim status.capacity',
    because: 'the same',
    when: (model) => isIgnored('StorageShrinkIgnored')(model) || isIgnored('StorageChangeIgnored')(model),
  },
  {
    field: 'PersistentVolumeClaim spec.storageClassName',
    because: 'a class is for ever',
    when: isIgnored('StorageChangeIgnored'),
  },
  { field: 'MLModel status.conditions.StorageShrinkIgnored', because: 'only a volume with a past can be too large' },
  { field: 'MLModel status.conditions.StorageChangeIgnored', because: 'the same' },
];

/**
 * More processors than Kubernetes can count in thousandths: its scheduler then finds no node for anybody's pods any more, so
 * that nothing else could be judged beside it.
 */
const isOverflow = (path: string, value: Json): boolean =>
  path.startsWith('spec.resources') && /1Ei|9223372036854775808|9007199254740/.test(JSON.stringify(value) ?? '');

/** What an MLModel means. */
export const mlmodel: Meanings<MLModel> = {
  kind: MLModel,
  installed: product,
  children: [ControllerRevision, PersistentVolumeClaim, Job, Deployment, Service, PodDisruptionBudget],
  bases,
  furnish,
  means: {
    'spec.modelURL': 'url',
    'spec.storageSize': 'size',
    'spec.replicas': 'replicas',
    'spec.digest': 'digest',
    'spec.credentials': 'secret',
    'spec.storageClassName': 'storageClass',
    'spec.server.image': 'image',
    'spec.server.command[]': 'argument',
    'spec.server.args[]': 'argument',
    'spec.server.port': 'port',
    'spec.server.healthPath': 'path',
    'spec.env[].name': 'variable',
    'spec.env[].value': 'text',
    'spec.env[].secret.name': 'secret',
    'spec.env[].secret.key': 'secretKey',
    'spec.nodeSelector{}': 'label',
    'spec.tolerations[].key': 'labelKey',
    'spec.tolerations[].value': 'label',
    'spec.imagePullSecrets[].name': 'secret',
    'spec.serviceAccountName': 'account',
    'spec.podLabels{}': 'label',
    'spec.podAnnotations{}': 'text',
    'spec.priorityClassName': 'priorityClass',
    'spec.runtimeClassName': 'runtimeClass',
  },
  values: {
    'spec.server': [{}, { image: 'own:2', port: 9001 }],
    'spec.rollout': [{}, { strategy: 'surge' }],
    'spec.resources': [{}, { requests: { cpu: '200m', memory: '1Gi' }, limits: { memory: '2Gi' } }],
    'spec.resources.limits': [{ memory: '1Mi' }, { 'nvidia.com/gpu': 1 }, { cpu: '1', memory: '0' }],
    'spec.resources.requests': [{ cpu: '1Pi' }, { memory: '64Mi' }, { 'no such resource': '1' }],
    'spec.env': [
      [
        { name: 'A', value: '1' },
        { name: 'B', value: '$(A)' },
      ],
      [
        { name: 'B', value: '$(A)' },
        { name: 'A', value: '1' },
      ],
    ],
    'spec.env[]': [
      { name: 'THREADS', value: '2' },
      { name: 'TOKEN', secret: { name: furniture.secret, key: 'token' } },
    ],
    'spec.env[].secret': [{ name: furniture.secret, key: 'token' }],
    'spec.nodeSelector': [{ 'kubernetes.io/os': 'linux' }, { 'kubernetes.io/os': 'plan9' }, { 'no blanks': 'x' }],
    'spec.tolerations': [[{ operator: 'Exists' }], [{ key: 'a', operator: 'Exists', value: 'b' }]],
    'spec.tolerations[]': [
      { key: 'a', effect: 'NoExecute', tolerationSeconds: 5 },
      { key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 },
      {},
    ],
    'spec.imagePullSecrets[]': [{ name: furniture.secret }],
    'spec.podLabels': [{ team: 'red' }, { 'app.kubernetes.io/name': 'other' }, { 'no blanks': 'x' }],
    'spec.podAnnotations': [
      quick,
      { ...quick, note: 'n'.repeat(16_000) },
      { 'sim.baton.dev/container': 'server', 'sim.baton.dev/fault': 'crash' },
      { 'sim.baton.dev/container': 'server', 'sim.baton.dev/fault': 'image-pull-error' },
      { 'sim.baton.dev/container': 'download', 'sim.baton.dev/exit-code': '42' },
    ],
  },
  annotations: { [mark.refresh]: ['1', '2'], [mark.retry]: ['1', '2'], 'example.com/note': ['x'] },
  isDear: (path, value) =>
    (path === 'spec.replicas' && typeof value === 'number' && value > 5) || isOverflow(path, value),
  with: { 'spec.credentials': fetched, 'spec.storageClassName': fetched, 'spec.digest': fetched },
  examples: {
    'spec.server': [{ image: 'own:1', port: 9000, command: ['serve'], args: ['--port=9000'], healthPath: '/ok' }],
    'spec.server.command': [['serve', 'now']],
    'spec.server.args': [['--port=9000', '--model={model}']],
    'spec.resources': [{ requests: { cpu: '200m' }, limits: { memory: '1Gi' } }],
    'spec.resources.requests': [{ cpu: '200m' }],
    'spec.resources.limits': [{ memory: '1Gi' }],
    'spec.env': [
      [{ name: 'THREADS', value: '2' }],
      [{ name: 'TOKEN', secret: { name: furniture.secret, key: 'token' } }],
    ],
    'spec.env[]': [
      { name: 'THREADS', value: '2' },
      { name: 'TOKEN', secret: { name: furniture.secret, key: 'token' } },
    ],
    'spec.env[].secret': [{ name: furniture.secret, key: 'token' }],
    'spec.nodeSelector': [{ 'kubernetes.io/os': 'linux' }],
    'spec.tolerations': [
      [{ key: 'dedicated', operator: 'Equal', value: 'models', effect: 'NoExecute', tolerationSeconds: 60 }],
    ],
    'spec.imagePullSecrets': [[{ name: furniture.secret }]],
    'spec.podLabels': [{ team: 'red' }],
    'spec.podAnnotations': [{ ...quick, note: 'x' }],
  },
  breaks: {
    'must not hold a user name or password: name a Secret in credentials': asking({
      modelURL: 'https://me:pw@models.example/a',
    }),
    'must be a quantity greater than zero, such as 10Gi': asking({ storageSize: '0' }),
    'must be at most 1Pi': asking({ storageSize: '2Pi' }),
    'storageSize is required for a model that is downloaded': asking({ storageSize: undefined }),
    'framework custom needs server.image and server.port': asking({ framework: 'custom' }),
    'pvc:// weights are not downloaded: digest, credentials and retain do not apply': asking({
      modelURL: 'pvc://shelf',
      retain: true,
    }),
    'must be pvc://claim or pvc://claim/path, with the name of a claim in the same namespace': asking({
      modelURL: 'pvc://No_Claim/a',
    }),
    'must not lead out of the volume: leave .. out of the path, and begin it at the top of the volume': asking({
      modelURL: 'pvc://shelf/../a',
    }),
    'must be oci://host/repository:tag, or with @sha256:... instead of the tag or behind it': asking({
      modelURL: 'oci://registry.example',
    }),
    'must be the digest that stands in modelURL': asking({
      modelURL: `oci://registry.example/a@sha256:${'a'.repeat(64)}`,
      digest: `sha256:${'b'.repeat(64)}`,
    }),
    'a variable has either a value or a secret': asking({ env: [{ name: 'A' }] }),
    'labels under baton.dev/ are ours': asking({ podLabels: { 'baton.dev/name': 'x' } }),
    'the name must have at most 63 characters': (document) => ({ ...document, name: 'n'.repeat(64) }),
  },
  shows,
  bearers: (path) => (inPods.test(path) ? [Deployment] : []),
  lacks,
  isRemembered,
  masks: ofThePast,
  outlives: (child, { spec }) => isOfKind(child, PersistentVolumeClaim) && spec.retain,
};

const answers = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false);

const isOf =
  (model: MLModel) =>
  (object: KubeObject): boolean =>
    object.metadata.labels?.[label.name] === model.metadata.name;

/** What Ready promises: servers of this revision that answer, and an address that leads to them and to nobody else. */
function lacks(model: MLModel, now: World): string[] {
  const running = servedBy(model, now);
  if (!running) return ['it has no Deployment'];
  const { replicas } = model.spec;
  const asked = revisionName(model);
  const servers = now.all(Pod).filter(isOf(model));
  const ready = servers.filter((pod) => answers(pod) && pod.metadata.labels?.[mark.revision] === asked);
  const { status, metadata, spec } = running;
  return [
    ...(metadata.annotations?.[mark.revision] === asked ? [] : ['its Deployment is of another revision']),
    ...(spec.replicas === replicas ? [] : ['its Deployment is of another size']),
    ...((status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) ? [] : ['its Deployment is not observed']),
    ...(ready.length >= (replicas > 1 ? replicas - 1 : replicas)
      ? []
      : [`only ${ready.length} of ${replicas} servers answer`]),
    ...addressLack(model, now, servers),
  ];
}

function addressLack(model: MLModel, now: World, servers: readonly Pod[]): string[] {
  const service = now.get(Service, `${model.metadata.name}-service`);
  if (!service) return ['the Service of its address does not exist'];
  const port = Number(model.status?.serviceEndpoint?.split(':')[1]);
  const wanted = Object.entries(service.spec.selector ?? {});
  const chosen = now
    .all(Pod)
    .filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value));
  return [
    ...(service.spec.ports?.some((one) => one.port === port) ? [] : [`its Service has no port ${port}`]),
    ...(chosen.every((pod) => servers.includes(pod)) ? [] : ['its Service leads to pods of somebody else']),
  ];
}

/** Former revisions that the status names, and the weights that they need. */
function isRemembered(child: KubeObject, model: MLModel, now: World): boolean {
  const former = new Set(model.status?.history ?? []);
  const revisions = now.all(ControllerRevision).filter(isOf(model));
  const kept = revisions.filter(({ metadata }) => former.has(metadata.labels?.[mark.revision] ?? ''));
  if (isOfKind(child, ControllerRevision)) return kept.some(({ metadata }) => metadata.name === child.metadata.name);
  const claims = kept.map(({ data }) => (data as { source?: { claim?: string } }).source?.claim);
  const asked = revisions.find(({ metadata }) => metadata.labels?.[mark.revision] === model.status?.revision);
  const own = (asked?.data as { source?: { claim?: string } } | undefined)?.source?.claim;
  return isOfKind(child, PersistentVolumeClaim) && child.metadata.name !== own && claims.includes(child.metadata.name);
}

const disk = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'kubernetes.io/host-path' };

/** What the whole cluster has of classes. */
const classes = [
  { ...disk, metadata: { name: furniture.storageClass } },
  { ...disk, metadata: { name: furniture.growing }, allowVolumeExpansion: true },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: furniture.priorityClass },
    value: 1000,
  },
];

/** Somebody else's pod, which has a label or two in common with ours. */
const stranger = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'stranger',
    labels: { app: 'stranger', 'app.kubernetes.io/name': 'mlmodel', 'app.kubernetes.io/component': 'server' },
  },
  spec: {
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'own',
        image: 'own:1',
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};

/** A claim that is there, a Secret, an account, classes, and somebody else's pod with labels like ours. */
async function furnish(rig: Rig, namespace: string): Promise<void> {
  const documents = [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: furniture.claim },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
    },
    stranger,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: furniture.secret },
      stringData: { token: 'campaign-canary-token' },
    },
    ...classes,
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: furniture.account } },
  ];
  const list = { apiVersion: 'v1', kind: 'List', items: documents };
  const { code, stderr } = await rig.plane.kubectl(['-n', namespace, 'apply', '-f', '-'], {
    stdin: JSON.stringify(list),
  });
  if (code !== 0) throw new Error(stderr);
}
