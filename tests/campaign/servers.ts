// What the campaign must know of servers, for every kind that has them: what Ready promises, what only a past explains, and how
// the fields about takeovers show.

import { type MLModel, mark } from '../../src/api/index.ts';
import { type Deployment, type KubeObject, label, Pod, Service } from '../../src/objects/index.ts';
import { answers } from '../kit/servers.ts';
import type { World } from '../kit/subject.ts';
import type { Mask, Shows } from './meaning.ts';
import type { Json } from './property.ts';

/** A parent with servers, as far as it matters here. */
type Served = KubeObject & { spec: Pick<MLModel['spec'], 'rollout'>; status?: { history?: string[] } };

/** Whether an object is a child of a parent. */
export const isOf =
  (parent: KubeObject) =>
  (object: KubeObject): boolean =>
    object.metadata.labels?.[label.name] === parent.metadata.name && object.metadata.labels[label.kind] === parent.kind;

/** What is promised. */
export interface Promised {
  running: Deployment | undefined;
  replicas: number;
  revision: string;
  /** The name of the Service and the address that the status tells, for kinds that have them. */
  service?: { name: string; address: string | undefined };
}

/** What Ready promises: servers of this revision that answer, and perhaps an address that leads to them and to nobody else. */
export function serversLack(parent: KubeObject, now: World, promised: Promised): string[] {
  const { running, replicas, revision, service } = promised;
  if (!running) return ['it has no Deployment'];
  const servers = now.all(Pod).filter(isOf(parent));
  const ready = servers.filter((pod) => answers(pod) && pod.metadata.labels?.[mark.revision] === revision);
  const { status, metadata, spec } = running;
  return [
    ...(metadata.annotations?.[mark.revision] === revision ? [] : ['its Deployment is of another revision']),
    ...(spec.replicas === replicas ? [] : ['its Deployment is of another size']),
    ...((status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) ? [] : ['its Deployment is not observed']),
    ...(ready.length >= (replicas > 1 ? replicas - 1 : replicas)
      ? []
      : [`only ${ready.length} of ${replicas} servers answer`]),
    ...(service ? addressLack(service, now, servers) : []),
  ];
}

type Address = NonNullable<Promised['service']>;

function addressLack({ name, address }: Address, now: World, servers: readonly Pod[]): string[] {
  const service = now.get(Service, name);
  if (!service) return ['the Service of its address does not exist'];
  const port = Number(address?.split(':').at(-1));
  const wanted = Object.entries(service.spec.selector ?? {});
  const chosen = now
    .all(Pod)
    .filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value));
  return [
    ...(service.spec.ports?.some((one) => one.port === port) ? [] : [`its Service has no port ${port}`]),
    ...(chosen.every((pod) => servers.includes(pod)) ? [] : ['its Service leads to pods of somebody else']),
  ];
}

/** What may differ between two pasts of servers. */
export const serverMasks = (kind: string): Mask[] => [
  { field: 'Deployment metadata.generation', because: 'counts the edits' },
  { field: 'Deployment metadata.annotations.deployment.kubernetes.io/revision', because: 'counts the rollouts' },
  { field: `Deployment metadata.annotations.${mark.served}`, because: 'lists what served before' },
  { field: `Deployment metadata.annotations.${mark.rollout}`, because: 'tells how this revision took over' },
  { field: 'Deployment spec.strategy.rollingUpdate', because: 'a takeover that found no room stays one by one' },
  { field: 'ControllerRevision revision', because: 'counts the revisions' },
  { field: 'ControllerRevision data.startSeconds', because: 'a revision keeps the time to start that it was cut with' },
  { field: 'ControllerRevision data.template.spec.containers.*.startupProbe.failureThreshold', because: 'the same' },
  { field: 'Deployment spec.template.spec.containers.*.startupProbe.failureThreshold', because: 'the same' },
  { field: `${kind} status.history`, because: 'lists what can be returned to' },
];

/** What the Deployment was told beside its pods. */
const told = (running: Deployment | undefined) =>
  (running?.spec ?? {}) as { strategy?: { rollingUpdate?: { maxSurge: Json } }; progressDeadlineSeconds?: Json };

/** How takeovers show. */
export const rolloutShows = <P extends Served>(
  servedBy: (parent: P, now: World) => Deployment | undefined,
): Record<string, Shows<P>> => ({
  'spec.rollout.strategy': (value = 'auto', { parent, now }) =>
    told(servedBy(parent, now)).strategy?.rollingUpdate?.maxSurge === (value === 'replace' ? 0 : 1),
  'spec.rollout.progressDeadlineSeconds': (value, { parent, now }) =>
    told(servedBy(parent, now)).progressDeadlineSeconds === value,
  'spec.rollout.history': (_value, { parent }) => (parent.status?.history ?? []).length <= parent.spec.rollout.history,
});
