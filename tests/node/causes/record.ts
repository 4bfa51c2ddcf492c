// Keeps what a real cluster said of a cause, as a fixture for the judges in src/objects/causes: the turns that the pod in
// trouble went through, and the events about it, its claim and its Job. Only what judges may read is kept.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ContainerStatus,
  Job,
  type Kind,
  KubeEvent,
  type KubeObject,
  PersistentVolumeClaim,
  Pod,
} from '../../../src/objects/index.ts';
import type { Place } from '../../kit/telling.ts';

const folder = join(import.meta.dirname, '../../../src/objects/causes/fixtures/recorded');

/** Writes down what was seen, under a name: one object a line. */
export function keep(name: string, { witness, namespace }: Place): void {
  const of = <T extends KubeObject>(kind: Kind<T>): T[] =>
    witness.of(kind).flatMap(({ type, object }) => (type === 'DELETED' ? [] : [object]));
  const [first] = of(Pod);
  const pods = of(Pod).filter(({ metadata }) => metadata.uid === first?.metadata.uid);
  const seen = {
    pods: turnsOf(pods.map(podIn), turnOfPod),
    claims: turnsOf(of(PersistentVolumeClaim).map(claimIn), ({ status }) => status?.phase),
    jobs: turnsOf(of(Job).map(jobIn), ({ status }) => status?.conditions?.map(({ type }) => type).join()),
    events: turnsOf(of(KubeEvent).filter(isTelling).map(eventIn), ({ involvedObject, reason, message }) =>
      [involvedObject.name, reason, message].join(),
    ),
  };
  const lists = Object.entries(seen).map(
    ([list, objects]) => `"${list}":[\n${objects.map((one) => JSON.stringify(one)).join(',\n')}]`,
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.gen.json`), `{${lists.join(',\n')}}\n`.replaceAll(namespace, 'default'));
}

/** The first of each turn. */
const turnsOf = <T>(all: readonly T[], turnOf: (one: T) => string | undefined): T[] =>
  [...new Map(all.toReversed().map((one) => [turnOf(one), one])).values()].toReversed();

/** What tells one turn of a pod from another. */
function turnOfPod({ metadata, status = {} }: Pod): string {
  const { phase, reason, conditions = [], containerStatuses: [first] = [] } = status;
  const states = [first?.state, first?.lastState].map((state) => Object.entries(state ?? {}).map(wordOf));
  const unmet = conditions.filter((one) => one.status === 'False').map(({ type }) => type);
  const begun = [first?.started, metadata.deletionTimestamp === undefined];
  return JSON.stringify([begun, phase, reason, states, unmet]);
}

const wordOf = ([state, { reason }]: [string, { reason?: string }]): string => `${state} ${reason}`;

const isTelling = ({ type, reason, involvedObject: { kind } }: KubeEvent): boolean =>
  kind !== 'MLModel' && (type === 'Warning' || reason === 'Killing' || kind === 'PersistentVolumeClaim');

const known = ({ apiVersion, kind, metadata }: KubeObject) => {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp } = metadata;
  const times = { creationTimestamp, ...(deletionTimestamp !== undefined && { deletionTimestamp }) };
  return { apiVersion, kind, metadata: { name, namespace, uid, ...times } };
};

function podIn(pod: Pod): Pod {
  const { nodeName, restartPolicy, containers } = pod.spec;
  const asked = containers.map(({ name, image, resources }) => ({ name, image, resources }));
  const { containerStatuses = [], ...status } = pod.status ?? {};
  return {
    ...known(pod),
    spec: { ...(nodeName !== undefined && { nodeName }), restartPolicy, containers: asked },
    status: { ...status, containerStatuses: containerStatuses.map(containerIn) },
  } as Pod;
}

function containerIn(container: ContainerStatus): ContainerStatus {
  const {
    name,
    ready,
    restartCount,
    started = false,
    image = '',
    imageID = '',
    state = {},
    lastState = {},
  } = container;
  return { name, ready, restartCount, started, image, imageID, state, lastState };
}

const claimIn = (claim: PersistentVolumeClaim) =>
  ({ ...known(claim), spec: claim.spec, status: claim.status }) as PersistentVolumeClaim;

const jobIn = (job: Job) => ({ ...known(job), spec: {}, status: job.status }) as unknown as Job;

function eventIn(event: KubeEvent): KubeEvent {
  const { type, reason, message, involvedObject, firstTimestamp, lastTimestamp, count } = event;
  const { kind, name, namespace, uid } = involvedObject;
  const said = { type, reason, message, involvedObject: { kind, name, namespace, uid } };
  return { ...known(event), ...said, firstTimestamp, lastTimestamp, count } as KubeEvent;
}
