// What may differ between two MLModels that ask for the same, because one of them was something else before.

import { mark, type MLModel } from '../../../src/api/index.ts';
import { conditionOf } from '../../../src/objects/index.ts';
import type { Mask } from '../meaning.ts';

const isIgnored = (type: string) => (model: MLModel) => conditionOf(model.status, type)?.status === 'True';

export const ofThePast: Mask<MLModel>[] = [
  { field: 'Deployment metadata.generation', because: 'counts the edits' },
  { field: 'Deployment metadata.annotations.deployment.kubernetes.io/revision', because: 'counts the rollouts' },
  { field: `Deployment metadata.annotations.${mark.served}`, because: 'lists what served before' },
  { field: `Deployment metadata.annotations.${mark.rollout}`, because: 'tells how this revision took over' },
  { field: 'Deployment spec.strategy.rollingUpdate', because: 'a takeover that found no room stays one by one' },
  { field: 'ControllerRevision revision', because: 'counts the revisions' },
  { field: 'ControllerRevision data.startSeconds', because: 'a revision keeps the time to start that it was cut with' },
  { field: 'ControllerRevision data.template.spec.containers.*.startupProbe.failureThreshold', because: 'the same' },
  { field: 'Deployment spec.template.spec.containers.*.startupProbe.failureThreshold', because: 'the same' },
  { field: 'MLModel status.history', because: 'lists what can be returned to' },
  {
    field: 'PersistentVolumeClaim spec.resources',
    because: 'volumes do not shrink, and some do not grow',
    when: (model) => isIgnored('StorageShrinkIgnored')(model) || isIgnored('StorageChangeIgnored')(model),
  },
  {
    field: 'PersistentVolumeClaim status.capacity',
    because: 'the same',
    when: (model) => isIgnored('StorageShrinkIgnored')(model) || isIgnored('StorageChangeIgnored')(model),
  },
  {
    field: 'PersistentVolumeClaim spec.storageClassName',
    because: 'a class is for ever',
    when: isIgnored('StorageChangeIgnored'),
  },
  { field: 'MLModel status.conditions.StorageShrinkIgnored', because: 'only a volume with a past can be too large' },
  { field: 'MLModel status.conditions.StorageChangeIgnored', because: 'the same' },
];
