// What may differ between two MLModels that ask for the same, because one of them was something else before.

import { MLModel } from '../../../src/api/index.ts';
import { conditionOf } from '../../../src/objects/index.ts';
import type { Mask } from '../meaning.ts';
import { serverMasks } from '../servers.ts';

const isIgnored = (type: string) => (model: MLModel) => conditionOf(model.status, type)?.status === 'True';

export const ofThePast: Mask<MLModel>[] = [
  ...serverMasks(MLModel.kind),
  {
    field: 'PersistentVolumeClaim spec.resources',
    because: 'volumes do not shrink, and some do not grow',
    when: (model) => isIgnored('StorageShrinkIgnored')(model) || isIgnored('StorageChangeIgnored')(model),
  },
  {
    field: 'PersistentVolumeClaim status.capacity',
    because: 'the provisioner here makes volumes and does not grow them',
  },
  {
    field: 'PersistentVolumeClaim spec.storageClassName',
    because: 'a class is for ever',
    when: isIgnored('StorageChangeIgnored'),
  },
  { field: 'MLModel status.conditions.StorageShrinkIgnored', because: 'only a volume with a past can be too large' },
  { field: 'MLModel status.conditions.StorageChangeIgnored', because: 'the same' },
];
