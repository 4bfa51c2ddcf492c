// What the campaign must know of a ModelDeployment: see ../meaning.ts.

import { mark, ModelDeployment } from '../../../src/api/index.ts';
import {
  ControllerRevision,
  Deployment,
  HorizontalPodAutoscaler,
  isOfKind,
  Job,
  PodDisruptionBudget,
  Service,
} from '../../../src/objects/index.ts';
import { product, withoutAutoscaling } from '../../kit/rig.ts';
import type { Meanings } from '../meaning.ts';
import { furnish } from '../mlmodel/furnish.ts';
import { asking, isOverflow, podBreaks, tolerationWith } from '../podfields.ts';
import { serverMasks } from '../servers.ts';
import { bearers, lacks, shows } from './shows.ts';
import { aimedAt, bases, examples, means, patient, scaled, values } from './values.ts';

const breaks: Meanings['breaks'] = {
  'must be the name of an image: registry.example/team/model:tag, or with @sha256:... instead of the tag or behind it':
    asking({ image: 'Not An Image' }),
  'annotations under baton.dev/ are ours': asking({ annotations: { 'baton.dev/name': 'x' } }),
  'annotations under deployment.kubernetes.io/ and kubectl.kubernetes.io/ belong to those who write them': asking({
    annotations: { 'deployment.kubernetes.io/revision': '1' },
  }),
  'name either cpu or concurrency': asking({ maxReplicas: 2, target: {} }),
  'must not be greater than maxReplicas, which is 1 if left out': asking({ minReplicas: 3, maxReplicas: 2 }),
  'is for an autoscaler: name maxReplicas, too': asking({ target: { cpu: 50 } }),
  'must be less than rollout.progressDeadlineSeconds, or no server would be ready in time': asking({
    readinessProbeInitialDelay: 60,
  }),
  'must be less than rollout.progressDeadlineSeconds, when a server that never answered is restarted': asking({
    livenessProbeInitialDelay: 60,
  }),
  ...podBreaks,
  'must have names of annotations as keys, such as note or example.com/note': asking({
    annotations: { 'no blanks': 'x' },
    podAnnotations: { 'no blanks': 'x' },
  }),
};

const isMany = (path: string, value: unknown): boolean =>
  /^spec\.(replicas|minReplicas)$/.test(path) && typeof value === 'number' && value > 5;

/** What a ModelDeployment means. */
export const modeldeployment: Meanings<ModelDeployment> = {
  kind: ModelDeployment,
  installed: { ...product, flags: withoutAutoscaling },
  children: [ControllerRevision, Job, Deployment, Service, HorizontalPodAutoscaler, PodDisruptionBudget],
  bases,
  furnish,
  means,
  values,
  annotations: { [mark.refresh]: ['1', '2'], [mark.retry]: ['1', '2'], 'example.com/note': ['x'] },
  isDear: (path, value) => isMany(path, value) || isOverflow(path, value),
  with: {
    'spec.minReplicas': scaled,
    'spec.target': scaled,
    'spec.target.cpu': aimedAt('cpu'),
    'spec.target.concurrency': aimedAt('concurrency'),
    'spec.livenessProbeInitialDelay': patient,
    'spec.readinessProbeInitialDelay': patient,
    ...tolerationWith,
  },
  examples,
  breaks,
  shows,
  bearers,
  lacks,
  isRemembered: (child, { status }) =>
    isOfKind(child, ControllerRevision) &&
    (status?.history ?? []).includes(child.metadata.labels?.[mark.revision] ?? ''),
  masks: serverMasks(ModelDeployment.kind),
  outlives: () => false,
};
