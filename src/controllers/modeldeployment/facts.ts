// What cannot be read from the cache of a ModelDeployment: what is behind the name of its image, why the Job that looks at
// it makes no pod, what that said, and why its pod or a server does not start.

import type { ModelDeployment } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { Deployment, Job } from '../../objects/index.ts';
import {
  endedPodsOf,
  jobEventsOf,
  type LookFacts,
  manifestOf,
  podEventsOf,
  type Resolved,
  stuckServer,
} from '../../serving/index.ts';
import { attemptOf, imageAsked, knownImage, resolveName } from './image.ts';
import { modelName } from './server.ts';

export type ModelDeploymentFacts = LookFacts<Resolved>;

function jobsAsked(object: ModelDeployment, seen: Observed): Job[] {
  const job = seen.get(Job, resolveName(object));
  return job ? [job] : [];
}

export const gather = {
  manifest: manifestOf<ModelDeployment, Resolved>(
    (object, seen) => {
      const isOpen = knownImage(object, seen) === undefined && jobsAsked(object, seen).length === 0;
      return isOpen ? { image: imageAsked(object), attempt: attemptOf(object) } : undefined;
    },
    (registry, image, signal) => registry.digestOf(image, signal),
  ),
  podEvents: podEventsOf<ModelDeployment>(jobsAsked, (object, seen) =>
    stuckServer(seen.get(Deployment, modelName(object)), seen, 'ours'),
  ),
  jobEvents: jobEventsOf(jobsAsked),
  endedPods: endedPodsOf(jobsAsked),
};
