// What can happen to a model in the small cluster, each with a number that says to whom or how. Steps of the world stand
// more often in the list than edits and accidents, so that random schedules also get somewhere.

import { mark } from '../../../src/api/index.ts';
import {
  ControllerRevision,
  Deployment,
  Job,
  jobResult,
  type Kind,
  type KubeObject,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../../src/objects/index.ts';
import { settings } from '../mlmodel.ts';
import type { Life } from './life.ts';
import { collect, privateImage, troubled, type Weather } from './nodes.ts';
import { isReady } from './workloads.ts';

type Happening = (life: Life, which: number) => void;

const urls = ['https://models.example/1.onnx', 'https://models.example/2.onnx', 'https://models.example/3.onnx'];
const images = ['oci://registry.example/iris:1', privateImage] as const;
const args = ['--a', '--b', '--c'];

const pick = <T>(list: readonly T[], which: number): T | undefined => list[which % list.length];
const one = <T>(list: readonly [T, ...T[]], which: number): T => list[which % list.length] ?? list[0];

/** Settings of other operators: another image, another table with it, another way to the outside. */
export const otherSettings = [
  settings,
  {
    ...settings,
    image: 'baton:2',
    exposure: { by: 'Ingress', domain: 'models.example', tls: false, annotations: {} } as const,
    frameworks: { onnx: { image: 'other:9', args: ['x'], port: 9000, healthPath: '/', writable: ['/tmp', '/cache'] } },
  },
];

const weather =
  (change: (life: Life, which: number) => Partial<Weather>): Happening =>
  (life, which) => {
    life.weather = { ...life.weather, ...change(life, which) };
    life.store.version++;
  };

const removeAny =
  (kind: Kind): Happening =>
  ({ store }, which) => {
    const object = pick(store.all<KubeObject>(kind), which);
    if (object) store.delete(object);
  };

const onPod =
  (
    which: (pod: Pod) => boolean,
    change: (pod: Pod, life: Life, number: number) => Partial<Pod> | undefined,
  ): Happening =>
  (life, number) => {
    const pod = pick(life.store.all(Pod).filter(which), number);
    const changed = pod && change(pod, life, number);
    if (pod && changed) life.store.put({ ...pod, ...changed });
  };

const isOver = ({ status }: Pod): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

const look: Happening = (life, which) => {
  const busy = life.store.everything().filter(({ kind }) => /^(Deployment|Job|PersistentVolumeClaim|Pod)$/.test(kind));
  const object = pick(busy, which);
  if (object) life.look(object);
};

const edits: Record<string, Happening> = {
  source: (life, which) =>
    life.edit({ modelURL: one(['pvc://shelf/iris', ...urls, ...images, images[0], images[1]], which) }),
  mind: (life, which) => {
    const { modelURL } = life.model.spec;
    life.edit({ modelURL: one(['https://models.example/other.onnx', 'pvc://shelf/iris', images[1]], which) });
    life.pass();
    life.edit({ modelURL });
  },
  server: (life, which) => life.edit({ server: { args: [one(['--a', ...args.slice(1)], which)] } }),
  replicas: (life, which) => life.edit({ replicas: which % 4 }),
  size: (life, which) => life.edit({ storageSize: one(['1Gi', '2Gi', '4Gi'], which) }),
  storageClass: (life, which) => life.edit({ storageClassName: one(['fast', 'rigid', 'nowhere', 'standard'], which) }),
  exposure: (life, which) => life.edit({ expose: which % 2 === 0 }),
  retention: (life, which) => life.edit({ retain: which % 2 === 0 }),
  history: (life, which) => life.edit({ rollout: { ...life.model.spec.rollout, history: which % 3 } }),
  strategy: (life, which) =>
    life.edit({ rollout: { ...life.model.spec.rollout, strategy: one(['auto', 'surge', 'replace'], which) } }),
  deadline: (life, which) =>
    life.edit({ rollout: { ...life.model.spec.rollout, progressDeadlineSeconds: one([600, 30, 1_200], which) } }),
  credentials: (life, which) => life.edit({ credentials: one(['one', 'two'], which) }),
  pullSecrets: (life, which) =>
    life.edit({ imagePullSecrets: which % 2 === 0 ? undefined : [{ name: 'pull' }] } as object),
  nodes: (life, which) => life.edit({ nodeSelector: which % 2 === 0 ? undefined : { disk: 'none' } } as object),
  move: (life, which) => life.edit({ nodeSelector: which % 2 === 0 ? undefined : { disk: 'other' } } as object),
  retry: (life, which) => life.annotate({ [mark.retry]: String(which) }),
  refresh: (life, which) => life.annotate({ [mark.refresh]: String(which) }),
};

const accidents: Record<string, Happening> = {
  room: weather((_life, which) => ({ room: which % 5 })),
  sourceTurns: weather(({ weather: { sources } }, which) => ({
    sources: turned(sources, one([urls[0] ?? '', ...urls.slice(1)], which), one(['fault', 'verdict'], which >> 2)),
  })),
  imageTurns: weather(({ weather: { images: held } }, which) => ({
    images: turned(
      held,
      one(images, which),
      one(['artifact', 'private', 'locked', 'missing', 'unreachable'], which >> 1),
    ),
  })),
  imagePushed: weather(({ weather: { pushed } }) => ({ pushed: pushed + 1 })),
  nodesMount: weather((_life, which) => ({ mounts: which % 3 !== 0 })),
  serverTurns: weather(({ weather: { servers } }, which) => ({
    servers: turned(
      servers,
      one(['--a', ...args.slice(1)], which),
      one(['crash', 'memory', 'image', 'slow'], which >> 2),
    ),
  })),
  classDries: weather((_life, which) => ({ dry: which % 2 === 0 ? [] : [one(['standard', 'fast'], which >> 1)] })),
  shelfGoes: weather((_life, which) => ({ shelf: which % 3 !== 0 })),
  serverFails: onPod(isReady, (pod, { store }, which) => ({
    status: troubled(one(['crash', 'memory'], which), pod, store.time),
  })),
  podEvicted: onPod(
    (pod) => pod.spec.nodeName !== undefined && !isOver(pod) && !pod.metadata.deletionTimestamp,
    ({ status }) => ({ status: { ...status, ...evicted } }),
  ),
  podRemoved: removeAny(Pod),
  podCollected: ({ store }, which) => {
    const over = pick(store.all(Pod).filter(isOver), which);
    if (over) store.drop(over);
  },
  jobExpires: ({ store }, which) => {
    const over = pick(
      store.all(Job).filter((job) => jobResult(job) !== 'running'),
      which,
    );
    if (over) store.drop(over);
  },
  volumeLost: ({ store }, which) => {
    const claim = pick(store.all(PersistentVolumeClaim), which);
    if (claim?.status?.phase === 'Bound') store.put({ ...claim, status: { phase: 'Lost' } } as PersistentVolumeClaim);
  },
  noteRemoved: ({ store }, which) => {
    const claim = pick(store.all(PersistentVolumeClaim), which);
    if (claim) store.put({ ...claim, metadata: { ...claim.metadata, annotations: {} } });
  },
  deploymentEdited: ({ store }, which) => {
    const [held] = store.all(Deployment);
    // A person scales what runs; what the operator has stopped would start on an empty volume.
    if (held?.spec.replicas) store.apply({ ...held, spec: { ...held.spec, replicas: which % 4 } } as Deployment);
  },
  claimRemoved: removeAny(PersistentVolumeClaim),
  deploymentRemoved: (life, which) => {
    life.arrived = [];
    removeAny(Deployment)(life, which);
  },
  jobRemoved: removeAny(Job),
  revisionRemoved: removeAny(ControllerRevision),
  serviceRemoved: removeAny(Service),
  budgetRemoved: removeAny(PodDisruptionBudget),
};

const evicted = {
  phase: 'Failed',
  reason: 'Evicted',
  conditions: [{ type: 'DisruptionTarget', status: 'True' as const, reason: 'TerminationByKubelet' }],
};

function turned<T>(held: Readonly<Record<string, T>>, key: string, trouble: T): Record<string, T> {
  const { [key]: before, ...rest } = held;
  return before === undefined ? { ...rest, [key]: trouble } : rest;
}

const going: Record<string, Happening> = {
  pass: (life) => life.pass(),
  crash: (life, which) => life.pass(1 + (which % 5)),
  restart: (life) => life.restart(),
  look,
  round: (life, which) =>
    life.round(which, which > 7 ? one<Kind>([Deployment, Job, PersistentVolumeClaim], which) : undefined),
  collect: ({ store }) => collect(store),
  time: ({ store }, which) => {
    store.now += one([1_000, 20_000, 300_000, 700_000], which);
  },
  otherOperator: (life, which) => {
    life.settings = pick(otherSettings, which) ?? settings;
    life.store.version++;
  },
};

/** Everything that can happen, by name. */
export const happenings: Readonly<Record<string, Happening>> = { ...edits, ...accidents, ...going };

const often: Readonly<Record<string, number>> = {
  pass: 12,
  look: 30,
  round: 12,
  crash: 3,
  restart: 3,
  imageTurns: 2,
  pullSecrets: 2,
  source: 4,
  server: 3,
  replicas: 3,
  size: 3,
  nodes: 3,
  move: 3,
  mind: 2,
  time: 3,
};

const asOften = (list: object): string[] =>
  Object.keys(list).flatMap((name) => Array<string>(often[name] ?? 1).fill(name));

/** The names of everything, each as often as it should happen. */
export const anything: readonly string[] = asOften(happenings);

const gentle = [
  'sourceTurns',
  'imageTurns',
  'imagePushed',
  'nodesMount',
  'serverTurns',
  'classDries',
  'jobExpires',
  'jobRemoved',
  'noteRemoved',
  'serviceRemoved',
];

const { move: _gap, ...painless } = edits;

/** What may not cost a single answer of a model that serves: edits but a move of its volume, and trouble with what is new. */
export const harmless: readonly string[] = asOften({
  ...painless,
  ...going,
  ...Object.fromEntries(gentle.map((name) => [name, true])),
});
