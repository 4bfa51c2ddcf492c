// What an MLModel that says Ready promises, and which children only its past explains.

import { mark, type MLModel } from '../../../src/api/index.ts';
import { revisionName } from '../../../src/controllers/mlmodel/index.ts';
import {
  ControllerRevision,
  isOfKind,
  type KubeObject,
  label,
  PersistentVolumeClaim,
  Pod,
  Service,
} from '../../../src/objects/index.ts';
import type { World } from '../../kit/subject.ts';
import { servedBy } from './shows.ts';

const answers = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false);

const isOf =
  (model: MLModel) =>
  (object: KubeObject): boolean =>
    object.metadata.labels?.[label.name] === model.metadata.name;

/** What Ready promises: servers of this revision that answer, and an address that leads to them and to nobody else. */
export function lacks(model: MLModel, now: World): string[] {
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
export function isRemembered(child: KubeObject, model: MLModel, now: World): boolean {
  const former = new Set(model.status?.history ?? []);
  const revisions = now.all(ControllerRevision).filter(isOf(model));
  const kept = revisions.filter(({ metadata }) => former.has(metadata.labels?.[mark.revision] ?? ''));
  if (isOfKind(child, ControllerRevision)) return kept.some(({ metadata }) => metadata.name === child.metadata.name);
  const claims = kept.map(({ data }) => (data as { source?: { claim?: string } }).source?.claim);
  const asked = revisions.find(({ metadata }) => metadata.labels?.[mark.revision] === model.status?.revision);
  const own = (asked?.data as { source?: { claim?: string } } | undefined)?.source?.claim;
  return isOfKind(child, PersistentVolumeClaim) && child.metadata.name !== own && claims.includes(child.metadata.name);
}
