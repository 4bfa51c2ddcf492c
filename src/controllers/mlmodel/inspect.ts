// The Job that looks at an image with the Secrets that a model names. It has no volume and touches nothing; what it found
// lasts in the revision that is cut from it.

import { MLModel, partLabels } from '../../api/index.ts';
import type { Job } from '../../objects/index.ts';
import { imageJob } from '../../serving/index.ts';
import { inspectName } from './look.ts';
import type { MLModelSettings } from './settings.ts';
import { attemptOf, imageAsked } from './source.ts';

/** The Job that looks at what is asked. */
export const inspectJob = (model: MLModel, settings: MLModelSettings): Job =>
  imageJob(
    model.spec,
    {
      name: inspectName(model),
      labels: partLabels(MLModel.kind, model.metadata.name, 'inspect'),
      attempt: attemptOf(model),
      image: imageAsked(model),
    },
    settings,
  );
