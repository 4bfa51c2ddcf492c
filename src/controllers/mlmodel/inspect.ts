// The Job that looks at an image with the Secrets that a model names. It has no volume and touches nothing; what it found
// stands in the last word of its pod, and lasts in the revision that is cut from it.

import { inspectArguments, type MLModel } from '../../api/index.ts';
import type { Job } from '../../objects/index.ts';
import { programJob, sourceAccess } from './job.ts';
import { inspectName } from './look.ts';
import type { MLModelSettings } from './settings.ts';
import { attemptOf, imageAsked } from './source.ts';

/** The Job that looks at what is asked. */
export function inspectJob(model: MLModel, settings: MLModelSettings): Job {
  const { access, mounts } = sourceAccess(model, settings);
  return programJob(
    model,
    {
      name: inspectName(model),
      component: 'inspect',
      attempt: attemptOf(model),
      args: inspectArguments({ url: `oci://${imageAsked(model)}`, access }),
      memory: '256Mi',
      mounts,
    },
    settings,
  );
}
