// What the campaign must know of an MLModel: see ../meaning.ts. The world is simulated: pods of servers start at once, and a
// download takes as long as an annotation says.

import { mark, MLModel } from '../../../src/api/index.ts';
import {
  ControllerRevision,
  Deployment,
  isOfKind,
  Job,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
} from '../../../src/objects/index.ts';
import { product } from '../../kit/rig.ts';
import type { Meanings } from '../meaning.ts';
import { isOverflow, tolerationWith } from '../podfields.ts';
import { bases } from './bases.ts';
import { breaks } from './breaks.ts';
import { furnish } from './furnish.ts';
import { ofThePast } from './masks.ts';
import { isRemembered, lacks } from './promises.ts';
import { bearers, shows } from './shows.ts';
import { examples, fetched, fetchedToFail, isDust, means, values } from './values.ts';

/** What an MLModel means. */
export const mlmodel: Meanings<MLModel> = {
  kind: MLModel,
  installed: product,
  children: [ControllerRevision, PersistentVolumeClaim, Job, Deployment, Service, PodDisruptionBudget],
  bases,
  furnish,
  means,
  values,
  annotations: { [mark.refresh]: ['1', '2'], [mark.retry]: ['1', '2'], 'example.com/note': ['x'] },
  isDear: (path, value) =>
    (path === 'spec.replicas' && typeof value === 'number' && value > 5) ||
    isOverflow(path, value) ||
    isDust(path, value),
  with: {
    'spec.credentials': fetched,
    'spec.storageClassName': fetched,
    'spec.digest': fetched,
    'spec.podAnnotations': fetchedToFail,
    ...tolerationWith,
  },
  examples,
  breaks,
  shows,
  bearers,
  lacks,
  isIdle: ({ spec }) => (spec as Partial<MLModel['spec']>).replicas === 0,
  isRemembered,
  masks: ofThePast,
  outlives: (child, { spec }) => isOfKind(child, PersistentVolumeClaim) && spec.retain,
};
