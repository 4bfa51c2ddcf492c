// One model in the small cluster: a person who edits it, an operator that looks at it, and a world that goes on. Every
// step is small, so that a random order of steps reaches the states between.

import { isDeepStrictEqual as same } from 'node:util';
import { mark, type MLModel, type MLModelStatus } from '../../../src/api/index.ts';
import {
  attemptOf,
  decide,
  type MLModelFacts,
  type MLModelSettings,
  revisionName,
} from '../../../src/controllers/mlmodel/index.ts';
import type { Decision, Facts, Observed } from '../../../src/kube/define.ts';
import {
  Deployment,
  Job,
  type Kind,
  type KubeEvent,
  type KubeObject,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../src/objects/index.ts';
import { aModel, settings } from '../mlmodel.ts';
import { foreign, seen } from '../world.ts';
import { act, Crash, type Write } from './engine.ts';
import {
  collect,
  fairWeather,
  lookedAt,
  schedule,
  shelfClaim,
  step,
  syncClaim,
  type Volumes,
  type Weather,
} from './nodes.ts';
import { Store } from './store.ts';
import { isReady, syncDeployment, syncJob } from './workloads.ts';

/** What somebody checks while a life goes on. */
export interface Watcher {
  decided(life: Life, decision: Decision<MLModelStatus>, pass: Glance): void;
  wrote(life: Life, write: Write): void;
  told(life: Life, before: MLModelStatus | undefined): void;
  stepped(life: Life, pod: Pod): void;
}

/** What a decision was made from. */
export interface Glance {
  object: MLModel;
  seen: Observed;
  facts: Facts<MLModelFacts>;
  now: number;
}

/** The controller, or something that behaves worse. */
export type Decider = typeof decide;

const kindOfClass = (name: string, volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer', grows: boolean) => ({
  apiVersion: StorageClass.apiVersion,
  kind: StorageClass.kind,
  metadata: { name },
  provisioner: 'example.com/disk',
  volumeBindingMode,
  allowVolumeExpansion: grows,
});

/** Classes: the default one waits for a pod, `fast` binds at once, `rigid` does not grow. */
export const classes: StorageClass[] = [
  kindOfClass('standard', 'WaitForFirstConsumer', true),
  kindOfClass('fast', 'Immediate', true),
  kindOfClass('rigid', 'Immediate', false),
];

/** As in the engine: more rounds than a chain of answers needs. */
const mostRounds = 4;

export class Life {
  store = new Store(classes);
  weather: Weather = fairWeather;
  volumes: Volumes = new Map();
  model: MLModel = aModel({ server: { args: ['--a'] }, imagePullSecrets: [{ name: 'pull' }] });
  settings: MLModelSettings = settings;
  again: number | undefined;
  /** What was last asked of a registry: a question is answered only after the pass that asked it. */
  private asked: string | undefined;
  /** Revisions that had taken over when the servers were told something else, the last first, since there is a Deployment. */
  arrived: readonly string[] = [];
  /** The operator that cut each stored revision, by the name of its object. */
  cutters: ReadonlyMap<string, MLModelSettings> = new Map();
  readonly watcher: Watcher;
  readonly decider: Decider;

  constructor(watcher: Watcher, decider: Decider = decide) {
    this.watcher = watcher;
    this.decider = decider;
  }

  /** The same life, going another way from here. */
  fork(watcher: Watcher, decider: Decider = decide): Life {
    const fork = new Life(watcher, decider);
    fork.store = this.store.copy();
    fork.volumes = new Map(this.volumes);
    [fork.weather, fork.model, fork.settings] = [this.weather, this.model, this.settings];
    [fork.again, fork.arrived, fork.asked] = [this.again, this.arrived, this.asked];
    fork.cutters = this.cutters;
    return fork;
  }

  get status(): MLModelStatus | undefined {
    return this.model.status;
  }

  /** A person edits the spec. */
  edit(spec: Partial<MLModel['spec']>): void {
    const next = { ...this.model.spec, ...spec };
    if (same(next, this.model.spec)) return;
    const { metadata } = this.model;
    this.model = { ...this.model, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 }, spec: next };
    this.store.version++;
  }

  annotate(annotations: Record<string, string>): void {
    const { metadata } = this.model;
    this.model = { ...this.model, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } };
    this.store.version++;
  }

  /** One pass of the operator, as the engine runs it. It may end after so many writes. */
  pass(mostWrites = Infinity): void {
    const arrived = this.arrivedNow();
    let left = mostWrites;
    const wrote = (write: Write) => {
      if (isMoved(write)) this.arrived = [...new Set([...arrived, ...this.arrived])];
      if (!write.before && write.after?.kind === 'ControllerRevision')
        this.cutters = new Map([...this.cutters, [write.after.metadata.name, this.settings]]);
      this.watcher.wrote(this, write);
      if (--left <= 0) throw new Crash();
    };
    try {
      this.settle(wrote);
      this.answered(this.question());
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      this.restart();
    }
  }

  /** Another operator begins: what one knew dies with it. */
  restart(): void {
    this.answered(undefined);
  }

  private answered(question: string | undefined): void {
    if (question === this.asked) return;
    this.asked = question;
    this.store.version++;
  }

  /** What is asked of registries and nodes for this model, if anything. */
  private question(): string | undefined {
    const { modelURL } = this.model.spec;
    return modelURL.startsWith('oci:') ? `${revisionName(this.model)} ${attemptOf(this.model)}` : undefined;
  }

  private settle(wrote: (write: Write) => void): void {
    for (let round = 1; ; round++) {
      const decision = this.decide();
      const writes = act(this.store, decision.want, wrote);
      if (writes > 0 && round < mostRounds) continue;
      this.again = writes > 0 ? 0 : decision.again;
      return this.tell(decision.status);
    }
  }

  decide(): Decision<MLModelStatus> {
    const glance = this.glance();
    const decision = this.decider(glance, this.settings);
    this.watcher.decided(this, decision, glance);
    return decision;
  }

  /** Everything that a decision may look at; `order` puts the objects in another one. */
  glance(order: (objects: KubeObject[]) => KubeObject[] = (objects) => objects): Glance {
    const others = [...classes, ...(this.weather.shelf ? [shelfClaim] : [])].map(foreign);
    const world = seen(...order(this.store.everything()), ...others);
    const facts: Facts<MLModelFacts> = {
      progress: { state: 'pending' },
      claimEvents: { state: 'known', value: this.claimEvents() },
      podEvents: { state: 'unneeded' },
      jobEvents: { state: 'unneeded' },
      exposeEvents: { state: 'unneeded' },
      endedPods: { state: 'known', value: [] }, // the cache of this small world is never late
      manifest: this.manifest(),
      imageVolumes: this.isAnswered() ? { state: 'known', value: this.weather.mounts } : { state: 'pending' },
    };
    return { object: this.model, seen: world, facts, now: this.store.now };
  }

  private isAnswered(): boolean {
    return this.asked !== undefined && this.asked === this.question();
  }

  /** What a registry answers to the operator itself, which may not see what is private. */
  private manifest(): Facts<MLModelFacts>['manifest'] {
    const { modelURL: url } = this.model.spec;
    if (!url.startsWith('oci:')) return { state: 'unneeded' };
    if (!this.isAnswered()) return { state: 'pending' };
    const trouble = this.weather.images[url];
    if (trouble === 'unreachable') return { state: 'failed', why: 'no route to host', lasting: true };
    if (trouble === 'private')
      return { state: 'known', value: { refused: 'SourceUnauthorized', message: `${url} answered 401` } };
    return { state: 'known', value: lookedAt(url, this.weather) };
  }

  private tell(status: MLModelStatus): void {
    const before = this.status;
    if (same(before, status)) return;
    this.model = { ...this.model, status };
    this.store.version++;
    this.watcher.told(this, before);
  }

  private claimEvents(): KubeEvent[] {
    const dry = this.store.all(PersistentVolumeClaim).filter((claim) => this.isDry(claim));
    return dry.map(({ metadata: { name, uid = '' } }) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.1` },
      type: 'Warning',
      reason: 'ProvisioningFailed',
      message: 'the backend has no space',
      involvedObject: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace: 'shop', uid },
    }));
  }

  private isDry(claim: PersistentVolumeClaim): boolean {
    const name = this.store.classOf(claim)?.metadata.name;
    return claim.status?.phase === 'Pending' && (name === undefined || this.weather.dry.includes(name));
  }

  /** One look of one controller or node at one object. */
  look(object: KubeObject): void {
    const { store, weather, volumes } = this;
    if (object.kind === 'Deployment') syncDeployment(store, object as Deployment);
    if (object.kind === 'Job') syncJob(store, object as Job);
    if (object.kind === 'PersistentVolumeClaim') syncClaim(store, object as PersistentVolumeClaim, weather);
    if (object.kind !== 'Pod') return;
    const pod = object as Pod;
    if (pod.spec.nodeName === undefined) return schedule(store, pod, weather);
    step(store, pod, weather, volumes);
    this.watcher.stepped(this, pod);
  }

  /** The revision that the servers were told to run, if it has taken over. */
  private arrivedNow(): string[] {
    const [running] = this.store.all(Deployment);
    const name = running?.metadata.annotations?.[mark.revision];
    const answering = new Set(
      this.store
        .all(Pod)
        .filter(isReady)
        .map(({ metadata }) => metadata.labels?.[mark.revision]),
    );
    const observed = running?.status?.observedGeneration === running?.metadata.generation;
    const done = observed && running?.status?.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable');
    return name !== undefined && (done || (answering.size === 1 && answering.has(name))) ? [name] : [];
  }

  /** Everybody looks once, but for those who are late; who looks first is given by a number. */
  round(first = 0, late?: Kind): void {
    collect(this.store);
    const kinds = [PersistentVolumeClaim, Job, Deployment, Pod].filter((kind) => kind !== late);
    const start = first % kinds.length;
    for (const kind of [...kinds.slice(start), ...kinds.slice(0, start)])
      for (const { metadata } of this.store.all<KubeObject>(kind)) {
        const object = this.store.get<KubeObject>(kind, metadata.name);
        if (object) this.look(object);
      }
    this.pass();
  }
}

/** Whether the servers were told to run something else. */
const isMoved = ({ before, after }: Write): boolean =>
  before?.kind === 'Deployment' &&
  after !== undefined &&
  before.metadata.annotations?.[mark.revision] !== after.metadata.annotations?.[mark.revision];
