// What an MLModel that says Ready promises, and which children only its past explains.

import { mark, type MLModel } from '../../../src/api/index.ts';
import { revisionName } from '../../../src/controllers/mlmodel/index.ts';
import { ControllerRevision, isOfKind, type KubeObject, PersistentVolumeClaim } from '../../../src/objects/index.ts';
import type { World } from '../../kit/subject.ts';
import { isOf, serversLack } from '../servers.ts';
import { servedBy } from './shows.ts';

/** What Ready promises: servers of this revision that answer, and an address that leads to them and to nobody else. */
export const lacks = (model: MLModel, now: World): string[] =>
  serversLack(model, now, {
    running: servedBy(model, now),
    replicas: model.spec.replicas,
    revision: revisionName(model),
    service: { name: `${model.metadata.name}-service`, address: model.status?.serviceEndpoint },
  });

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
