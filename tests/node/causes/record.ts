// Keeps what a real cluster said of a cause, as a fixture for the judges in src/objects/causes: the turns that pods in
// trouble went through, and the events about them, their claim and their Job. Only what judges may read is kept.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ContainerStatus,
  Job,
  KubeEvent,
  type KubeObject,
  PersistentVolumeClaim,
  Pod,
} from '../../../src/objects/index.ts';
import type { Place } from '../../kit/telling.ts';

const folder = join(import.meta.dirname, '../../../src/objects/causes/fixtures/recorded');

/** Writes down what was seen, under a name. */
export function keep(name: string, { witness, namespace }: Place): void {
  const of = (kind: typeof Pod | typeof Job | typeof PersistentVolumeClaim) =>
    witness.of<KubeObject>(kind).flatMap(({ type, object }) => (type === 'DELETED' ? [] : [object]));
  const seen = {
    pods: turnsOf((of(Pod) as Pod[]).map(podIn), turnOfPod),
    claims: turnsOf((of(PersistentVolumeClaim) as PersistentVolumeClaim[]).map(claimIn), ({ status }) => status?.phase),
    jobs: turnsOf((of(Job) as Job[]).map(jobIn), ({ status }) => status?.conditions?.map(({ type }) => type).join()),
    events: turnsOf(
      witness
        .of(KubeEvent)
        .flatMap(({ object }) => (object.involvedObject.kind === 'MLModel' ? [] : [eventIn(object)])),
      ({ involvedObject, reason, message }) => [involvedObject.name, reason, message].join(),
    ),
  };
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(seen, null, 1).replaceAll(namespace, 'default');
  writeFileSync(join(folder, `${name}.gen.json`), `${text}\n`);
}

/** The first of each turn. */
const turnsOf = <T>(all: readonly T[], turnOf: (one: T) => string | undefined): T[] =>
  [...new Map(all.toReversed().map((one) => [turnOf(one), one])).values()].toReversed();

/** What tells one turn of a pod from another. */
function turnOfPod({ metadata, status = {} }: Pod): string {
  const { phase, reason, conditions = [], containerStatuses: [first] = [] } = status;
  const states = [first?.state, first?.lastState].map((state) => Object.entries(state ?? {}).map(wordOf));
  const unmet = conditions.filter((one) => one.status === 'False').map(({ type }) => type);
  return JSON.stringify([metadata.name, metadata.deletionTimestamp === undefined, phase, reason, states, unmet]);
}

const wordOf = ([state, { reason }]: [string, { reason?: string }]): string => `${state} ${reason}`;

const known = <T extends KubeObject>({ apiVersion, kind, metadata }: T) => {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp } = metadata;
  const times = { creationTimestamp, ...(deletionTimestamp !== undefined && { deletionTimestamp }) };
  return { apiVersion, kind, metadata: { name, namespace, uid, ...times } };
};

function podIn(pod: Pod): Pod {
  const { nodeName, restartPolicy, containers } = pod.spec;
  const asked = containers.map(({ name, image, resources }) => ({ name, image, resources }));
  const spec = { ...(nodeName !== undefined && { nodeName }), ...(restartPolicy !== undefined && { restartPolicy }) };
  const { containerStatuses = [], ...status } = pod.status ?? {};
  return {
    ...known(pod),
    spec: { ...spec, containers: asked },
    status: { ...status, containerStatuses: containerStatuses.map(containerOf) },
  } as Pod;
}

function containerOf({
  name,
  ready,
  restartCount,
  started,
  image,
  imageID,
  state,
  lastState,
}: ContainerStatus): ContainerStatus {
  return {
    name,
    ready,
    restartCount,
    started: started === true,
    image: image ?? '',
    imageID: imageID ?? '',
    ...(state && { state }),
    ...(lastState && { lastState }),
  };
}

const claimIn = (claim: PersistentVolumeClaim) =>
  ({ ...known(claim), spec: claim.spec, status: claim.status }) as PersistentVolumeClaim;

const jobIn = (job: Job) => ({ ...known(job), spec: {}, status: job.status }) as unknown as Job;

function eventIn(event: KubeEvent): KubeEvent {
  const { type, reason, message, involvedObject, firstTimestamp, lastTimestamp, count } = event;
  const { kind, name, namespace, uid } = involvedObject;
  const about = { kind, name, namespace, uid };
  return {
    ...known(event),
    type,
    reason,
    message,
    involvedObject: about,
    firstTimestamp,
    lastTimestamp,
    count,
  } as KubeEvent;
}
