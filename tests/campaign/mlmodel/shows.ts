// Where the properties of an MLModel show that do not show as they are, and in which children the others do.

import { mark, type MLModel } from '../../../src/api/index.ts';
import { revisionName } from '../../../src/controllers/mlmodel/index.ts';
import {
  conditionOf,
  ControllerRevision,
  Deployment,
  isOfKind,
  Job,
  type Kind,
  label,
  PersistentVolumeClaim,
  quantityOf,
  Service,
} from '../../../src/objects/index.ts';
import type { World } from '../../kit/subject.ts';
import type { Shows, Trail } from '../meaning.ts';
import { isInPods } from '../podfields.ts';
import { rolloutShows } from '../servers.ts';
import type { Json } from '../property.ts';

export const servedBy = (model: MLModel, now: World): Deployment | undefined =>
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

/** Whether it is said that a volume keeps its size or class. */
const isIgnored = ({ status }: MLModel): boolean =>
  ['StorageShrinkIgnored', 'StorageChangeIgnored'].some((type) => conditionOf(status, type));

export const shows: Record<string, Shows<MLModel>> = {
  'spec.modelURL': (value, trail) => rolled(value, trail) && isHandedOn(value, argumentsOf(trail)),
  'spec.storageSize': (_value, { parent, now }) => {
    const held = now.get(PersistentVolumeClaim, claimOf(parent, now) ?? '')?.spec.resources?.requests?.storage;
    const { storageSize, modelURL } = parent.spec;
    if (isIgnored(parent) || storageSize === undefined || modelURL.startsWith('pvc:')) return true;
    return quantityOf(held ?? '') === quantityOf(storageSize);
  },
  'spec.framework': rolled,
  'spec.replicas': (_value, { parent, now }) => servedBy(parent, now)?.spec.replicas === parent.spec.replicas,
  'spec.expose': (_value, { parent, now }) =>
    (now.get(Service, `${parent.metadata.name}-expose`) !== undefined) === parent.spec.expose,
  'spec.digest': (value, trail) =>
    value === undefined || trail.parent.status?.digest === value || trail.parent.spec.modelURL.startsWith('pvc:'),
  'spec.credentials': (value, trail) =>
    value === undefined ||
    trail.seen.some(
      (object) => isOfKind(object, Job) && JSON.stringify(object).includes(`"secretName":${JSON.stringify(value)}`),
    ),
  'spec.accessMode': (value, trail) =>
    trail.parent.spec.modelURL.startsWith('pvc:') ||
    claimsIn(trail).some(({ spec }) => JSON.stringify(spec.accessModes) === JSON.stringify([value])),
  'spec.storageClassName': (value, trail) =>
    value === undefined ||
    trail.parent.spec.modelURL.startsWith('pvc:') ||
    isIgnored(trail.parent) ||
    claimsIn(trail).some(({ spec }) => spec.storageClassName === value),
  'spec.retain': (_value, { parent, now }) =>
    now
      .all(PersistentVolumeClaim)
      .filter(({ metadata }) => metadata.labels?.[label.name] === parent.metadata.name)
      .every(({ metadata }) => (metadata.ownerReferences === undefined) === parent.spec.retain),
  ...rolloutShows(servedBy),
};

/** A source is one whole argument of the download, the last; weights that were there need none. */
const isHandedOn = (url: Json, lists: readonly (readonly string[])[]): boolean =>
  !/^(https?|s3|hf):/.test(JSON.stringify(url).slice(1)) ||
  lists.every((args) => args.at(-2) === '--' && args.at(-1)?.replaceAll('$$', '$') === url); // as a kubelet reads it

/** The children in which a property shows as it is. */
export const bearers = (path: string): readonly Kind[] =>
  isInPods(path) || path.startsWith('spec.server') ? [Deployment] : [];
