// Scheduler, kubelet, provisioner and garbage collector of the small cluster, and the weather: what sources, images,
// classes and nodes do for as long as nobody changes it.

import { exitCode, type LastWord, sayLastWord } from '../../../src/api/index.ts';
import type { Looked } from '../../../src/controllers/mlmodel/index.ts';
import { type LooseCondition, PersistentVolumeClaim, Pod } from '../../../src/objects/index.ts';
import { claimOf, type Store } from './store.ts';

export interface Weather {
  /** Pods that fit on the nodes. */
  room: number;
  /** What a source answers, by URL; what is not listed is good. */
  sources: Readonly<Record<string, 'fault' | 'verdict'>>;
  /** What is behind the name of an image, by URL; what is not listed is one that nodes can mount. */
  images: Readonly<Record<string, ImageTrouble>>;
  /** Which image the tags mean just now. */
  pushed: number;
  /** Whether nodes are known to mount images. */
  mounts: boolean;
  /** What a server does, by its first argument; what is not listed gets ready. */
  servers: Readonly<Record<string, 'crash' | 'memory' | 'image' | 'slow'>>;
  /** Classes that give no volume. */
  dry: readonly string[];
  /** Whether somebody's own claim is there, for models that mount it. */
  shelf: boolean;
}

/** `artifact`: nodes would mount an empty folder. `private`: the registry wants a Secret. `locked`: it takes none. */
export type ImageTrouble = 'artifact' | 'private' | 'locked' | 'missing' | 'unreachable';

/** The image that only those see whom its registry knows. */
export const privateImage = 'oci://registry.example/roses:1';

export const fairWeather: Weather = {
  room: 9,
  sources: {},
  images: { [privateImage]: 'private' },
  pushed: 1,
  mounts: true,
  servers: {},
  dry: [],
  shelf: true,
};

/** The digest that a tag means; one of an artifact can be told from one of an image. */
export const digestOf = (url: string, { images, pushed }: Weather): string =>
  `sha256:${images[url] === 'artifact' ? 'artifact' : 'image'}-${pushed}-${url.length}`;

/** What a registry tells whoever may ask. */
export function lookedAt(url: string, weather: Weather): Looked {
  const trouble = weather.images[url];
  if (trouble === 'missing') return { refused: 'SourceNotFound', message: `${url} answered 404` };
  if (trouble === 'locked') return { refused: 'SourceUnauthorized', message: `${url} answered 403` };
  return { digest: digestOf(url, weather), bytes: url.length, mountable: trouble !== 'artifact' };
}

/** What lies on the volume of a claim, by the claim's UID. */
export type Volumes = Map<string, string>;

/** The label that tells a server from a download. */
const componentOf = ({ metadata }: Pod): string | undefined => metadata.labels?.['app.kubernetes.io/component'];

type Status = NonNullable<Pod['status']>;

const condition = (type: string, status: 'True' | 'False', rest: Partial<LooseCondition> = {}): LooseCondition => ({
  type,
  status,
  ...rest,
});

/** One look of the binder: claims get volumes, grow, and leave when nobody mounts them any more. */
export function syncClaim(store: Store, claim: PersistentVolumeClaim, weather: Weather): void {
  if (claim.metadata.deletionTimestamp) {
    if (!store.isMounted(claim)) store.drop(claim);
    return;
  }
  const capacity = claim.spec.resources?.requests;
  if (claim.status?.phase === 'Bound') store.put({ ...claim, status: { ...claim.status, capacity } } as typeof claim);
  if (claim.status?.phase !== 'Pending' || !isProvided(store, claim, weather)) return;
  store.put({ ...claim, status: { phase: 'Bound', capacity } } as typeof claim);
}

function isProvided(store: Store, claim: PersistentVolumeClaim, { dry }: Weather): boolean {
  const kind = store.classOf(claim);
  if (!kind || dry.includes(kind.metadata.name)) return false;
  return kind.volumeBindingMode === 'Immediate' || store.all(Pod).some((pod) => claimOf(pod) === claim.metadata.name);
}

/** One look of the scheduler at a pod without a node. */
export function schedule(store: Store, pod: Pod, weather: Weather): void {
  if (pod.spec.nodeName !== undefined || pod.metadata.deletionTimestamp) return;
  const why = obstacle(store, pod, weather);
  if (why === undefined) {
    const conditions = [condition('PodScheduled', 'True', { lastTransitionTime: store.time })];
    store.put({
      ...pod,
      spec: { ...pod.spec, nodeName: nodeFor(pod) },
      status: { phase: 'Pending', conditions },
    } as Pod);
    return;
  }
  const held = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const lastTransitionTime = held?.lastTransitionTime ?? store.time;
  const conditions = [
    condition('PodScheduled', 'False', { reason: 'Unschedulable', message: why, lastTransitionTime }),
  ];
  store.put({ ...pod, status: { phase: 'Pending', conditions } } as Pod);
}

function obstacle(store: Store, pod: Pod, { room, shelf }: Weather): string | undefined {
  const name = claimOf(pod);
  const unbound = name === undefined ? undefined : claimObstacle(store, name, shelf);
  if (unbound !== undefined) return unbound;
  if (diskOf(pod) === 'none') return "node(s) didn't match Pod's node affinity/selector";
  const taken = store.all(Pod).filter(({ spec, status }) => spec.nodeName !== undefined && !isOver(status));
  const beside = taken.filter((other) => pod.spec['affinity'] !== undefined && claimOf(other) === name);
  if (beside.length > 0 && beside.every(({ spec }) => spec.nodeName !== nodeFor(pod)))
    return "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod affinity rules";
  return taken.length < room ? undefined : '0/1 nodes are available: 1 Too many pods.';
}

function claimObstacle(store: Store, name: string, shelf: boolean): string | undefined {
  const claim = name === 'shelf' && shelf ? shelfClaim : store.get(PersistentVolumeClaim, name);
  if (!claim) return `persistentvolumeclaim "${name}" not found`;
  if (claim.metadata.deletionTimestamp) return `persistentvolumeclaim "${name}" is being deleted`;
  return claim.status?.phase === 'Bound' ? undefined : 'pod has unbound immediate PersistentVolumeClaims';
}

const diskOf = ({ spec }: Pod): string | undefined => spec.nodeSelector?.['disk'];

/** There are two nodes, and only the second has another disk. */
const nodeFor = (pod: Pod): string => (diskOf(pod) === 'other' ? 'node-2' : 'node-1');

/** Somebody's own claim. */
export const shelfClaim: PersistentVolumeClaim = {
  apiVersion: PersistentVolumeClaim.apiVersion,
  kind: PersistentVolumeClaim.kind,
  metadata: { name: 'shelf', namespace: 'shop' },
  spec: {},
  status: { phase: 'Bound' },
};

const isOver = (status: Pod['status']): boolean => status?.phase === 'Failed' || status?.phase === 'Succeeded';

/** One step of the kubelet with a pod that has a node. */
export function step(store: Store, pod: Pod, weather: Weather, volumes: Volumes): void {
  if (pod.metadata.deletionTimestamp) return leave(store, pod);
  if (pod.spec.nodeName === undefined || isOver(pod.status)) return;
  if (componentOf(pod) === 'download') return download(store, pod, weather, volumes);
  if (componentOf(pod) === 'inspect') return inspect(store, pod, weather);
  serve(store, pod, weather);
}

/** A pod that is told to go takes its time, and holds its volume and its place meanwhile. */
function leave(store: Store, pod: Pod): void {
  const left = Number(pod.status?.['looksLeft'] ?? 2);
  if (left === 0) return store.drop(pod);
  setStatus(store, pod, { ...pod.status, looksLeft: left - 1 });
}

function download(store: Store, pod: Pod, { sources }: Weather, volumes: Volumes): void {
  if (pod.status?.phase !== 'Running') return start(store, pod, 'download');
  const url = urlIn(pod);
  const claim = store.get(PersistentVolumeClaim, claimOf(pod) ?? '');
  const word = said(url, sources[url]);
  if (word.result === 'done') volumes.set(claim?.metadata.uid ?? '', url);
  ended(store, pod, 'download', word);
}

/** A Job that looks at an image may see what is private; otherwise it is told what everybody is. */
function inspect(store: Store, pod: Pod, weather: Weather): void {
  if (pod.status?.phase !== 'Running') return start(store, pod, 'inspect');
  const url = urlIn(pod);
  const looked = lookedAt(url, weather);
  if (weather.images[url] === 'unreachable') return ended(store, pod, 'inspect', said(url, 'fault'));
  if ('digest' in looked) return ended(store, pod, 'inspect', { result: 'done', ...looked });
  ended(store, pod, 'inspect', { result: 'verdict', verdict: looked.refused, message: looked.message });
}

const urlIn = ({ spec }: Pod): string => spec.containers[0]?.args?.at(-1) ?? '';

function start(store: Store, pod: Pod, name: string): void {
  const containerStatuses = [container(name, { running: { startedAt: store.time } })];
  setStatus(store, pod, { ...pod.status, phase: 'Running', containerStatuses });
}

function ended(store: Store, pod: Pod, name: string, word: LastWord): void {
  const state = { terminated: { exitCode: exitCode[word.result], message: sayLastWord(word) } };
  const phase = word.result === 'done' ? 'Succeeded' : 'Failed';
  setStatus(store, pod, { ...pod.status, phase, containerStatuses: [container(name, state)] });
}

function said(url: string, answer: 'fault' | 'verdict' | undefined): LastWord {
  if (answer === 'fault') return { result: 'fault', message: 'the connection was reset' };
  if (answer === 'verdict') return { result: 'verdict', verdict: 'SourceNotFound', message: `${url} answered 404` };
  return { result: 'done', digest: `sha256:${url}`, bytes: url.length };
}

function serve(store: Store, pod: Pod, { servers }: Weather): void {
  const trouble = servers[pod.spec.containers[0]?.args?.[0] ?? ''];
  const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  if (ready) return;
  if (trouble !== undefined && trouble !== 'slow') return setStatus(store, pod, troubled(trouble, pod, store.time));
  const running = pod.status?.phase === 'Running' && pod.status.containerStatuses?.[0]?.state?.running !== undefined;
  if (running && trouble === 'slow') return;
  setStatus(store, pod, running ? readyStatus(pod, store.time) : unready(pod, store.time, { running: {} }));
}

type ServerTrouble = Exclude<Weather['servers'][string], 'slow'>;

/** The status of a server in trouble, in the words of a kubelet. */
export function troubled(trouble: ServerTrouble, pod: Pod, time: string): Status {
  const waiting = (reason: string, message: string) => ({ waiting: { reason, message } });
  if (trouble === 'image')
    return unready(pod, time, waiting('ImagePullBackOff', 'Back-off pulling image "server:1": not found'));
  const end = trouble === 'crash' ? { exitCode: 1, message: 'boom' } : { exitCode: 137, reason: 'OOMKilled' };
  return unready(pod, time, waiting('CrashLoopBackOff', 'back-off restarting'), { terminated: end });
}

const container = (name: string, state: object, lastState?: object) => ({
  name,
  ready: false,
  restartCount: lastState ? 1 : 0,
  state,
  ...(lastState && { lastState }),
});

function unready(pod: Pod, time: string, state: object, lastState?: object): Status {
  const held = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  const lastTransitionTime = held?.status === 'False' ? (held.lastTransitionTime ?? time) : time;
  const conditions = [condition('PodScheduled', 'True'), condition('Ready', 'False', { lastTransitionTime })];
  const phase = 'running' in state || lastState ? 'Running' : 'Pending';
  return { phase, conditions, containerStatuses: [container('server', state, lastState)] };
}

const readyStatus = (_pod: Pod, time: string): Status => ({
  phase: 'Running',
  conditions: [
    condition('PodScheduled', 'True'),
    condition('Ready', 'True', { lastTransitionTime: time }),
    condition('ContainersReady', 'True', { lastTransitionTime: time }),
  ],
  containerStatuses: [{ ...container('server', { running: { startedAt: time } }), ready: true }],
});

/** Whether a server answers or is about to: its container has been started. */
export const isStarted = (pod: Pod): boolean =>
  componentOf(pod) === 'server' && pod.status?.containerStatuses?.[0]?.state?.running !== undefined;

function setStatus(store: Store, pod: Pod, status: Status): void {
  store.put({ ...pod, status } as Pod);
}

/** Pods whose owner is gone go, too. */
export function collect(store: Store): void {
  const uids = new Set(store.everything().map(({ metadata }) => metadata.uid));
  for (const pod of store.all(Pod)) if (!uids.has(pod.metadata.ownerReferences?.[0]?.uid)) store.delete(pod);
}
