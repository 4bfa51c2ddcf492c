// ModelDeployment: an image that holds a model and answers over HTTP, served. One schema gives the type, the CRD and the
// reference table in docs/spec.

import * as z from 'zod';
import { annotationMap, commonStatus, defineKind, type ObjectOf, type StatusOf, withRules } from '../schema/index.ts';
import { imageName } from './images.ts';
import { podFields } from './podfields.ts';
import { rolloutFields } from './rollout.ts';

const image = imageName(
  'must be the name of an image: registry.example/team/model:tag, or with @sha256:... instead of the tag or behind it',
);

const annotations = withRules(
  annotationMap(32),
  { rule: "self.all(key, !key.startsWith('baton.dev/'))", message: 'annotations under baton.dev/ are ours' },
  {
    rule: "self.all(key, !key.startsWith('deployment.kubernetes.io/') && !key.startsWith('kubectl.kubernetes.io/'))",
    message: 'annotations under deployment.kubernetes.io/ and kubectl.kubernetes.io/ belong to those who write them',
  },
);

const target = withRules(
  z.object({
    cpu: z.int32().min(1).max(1_000).optional().describe('Percent of the requested CPU that servers use on average.'),
    concurrency: z
      .int32()
      .min(1)
      .max(100_000)
      .optional()
      .describe('Requests at a time for each server, as the metric `concurrency` of its pod tells.'),
  }),
  { rule: 'has(self.cpu) != has(self.concurrency)', message: 'name either cpu or concurrency' },
);

const delay = () => z.int32().min(0).max(3_600).default(2);

const spec = z.object({
  image: image.describe('The image of the model; a tag is looked up once for each revision, and run by digest.'),
  replicas: z
    .int32()
    .min(0)
    .max(1_000)
    .default(1)
    .describe('How many servers run; 0 stops serving. Left out where an autoscaler decides.'),
  minReplicas: z
    .int32()
    .min(0)
    .max(1_000)
    .optional()
    .describe('The least number of servers, with an autoscaler; 0 counts as 1, because nothing would wake the model.'),
  maxReplicas: z.int32().min(1).max(1_000).optional().describe('The most servers, with an autoscaler; 1 if left out.'),
  target: target.optional().describe('What an autoscaler aims at; 80 percent of the requested CPU if left out.'),
  annotations: annotations.optional().describe('Annotations of the Deployment, the Service and the pods.'),
  livenessProbeInitialDelay: delay().describe(
    'Seconds after its start before which a server is never restarted for not answering.',
  ),
  readinessProbeInitialDelay: delay().describe(
    'Seconds after its start before which a server does not count as ready.',
  ),
  port: z.int32().min(1).max(65535).default(5000).describe('The port on which the image answers over HTTP.'),
  healthPath: z
    .string()
    .max(512)
    .regex(/^\/[!-~]*$/)
    .default('/healthcheck')
    .describe('The path that answers 200 once the model is loaded.'),
  rollout: rolloutFields('How many former revisions are kept to return to.'),
  ...podFields,
});

const status = commonStatus.extend({
  deployment: z.string().max(63).optional().describe('The Deployment of the servers.'),
  service: z.string().max(63).optional().describe('The Service before the servers.'),
  serviceURL: z.string().max(512).optional().describe('Where the model answers inside the cluster.'),
  revision: z.string().max(63).optional().describe('The revision that is asked for.'),
  lastRevisionName: z.string().max(63).optional().describe('The revision that serves.'),
  digest: z.string().max(128).optional().describe('The digest of the image that is asked for.'),
  replicas: z.int32().min(0).max(100_000).optional().describe('Servers that exist.'),
  availableReplicas: z.int32().min(0).max(100_000).optional().describe('Servers that answer.'),
  selector: z.string().max(1024).optional().describe('The servers, as a label selector.'),
  history: z.array(z.string().max(63)).max(16).optional().describe('Former revisions that can be returned to at once.'),
});

/** An image that holds a model, served. */
export const ModelDeployment = defineKind({
  group: 'baton.dev',
  version: 'v1alpha1',
  kind: 'ModelDeployment',
  plural: 'modeldeployments',
  shortNames: ['md'],
  categories: ['baton'],
  description: 'An image that holds a model and answers over HTTP: run by digest, updated with no gap, autoscaled.',
  spec: withRules(
    spec.describe('What is asked for.'),
    {
      rule: '!has(self.minReplicas) || self.minReplicas <= (has(self.maxReplicas) ? self.maxReplicas : 1)',
      message: 'must not be greater than maxReplicas, which is 1 if left out',
      fieldPath: '.minReplicas',
    },
    {
      rule: '!has(self.target) || has(self.minReplicas) || has(self.maxReplicas)',
      message: 'is for an autoscaler: name maxReplicas, too',
      fieldPath: '.target',
    },
    {
      rule: 'self.readinessProbeInitialDelay < self.rollout.progressDeadlineSeconds',
      message: 'must be less than rollout.progressDeadlineSeconds, or no server would be ready in time',
      fieldPath: '.readinessProbeInitialDelay',
    },
    {
      rule: 'self.livenessProbeInitialDelay < self.rollout.progressDeadlineSeconds',
      message: 'must be less than rollout.progressDeadlineSeconds, when a server that never answered is restarted',
      fieldPath: '.livenessProbeInitialDelay',
    },
  ),
  status: status.describe('What is.'),
  longestName: 63,
  conditions: ['Available', 'Resolved', 'Serving', 'Autoscaled', 'Outdated'],
  columns: [
    { name: 'Phase', type: 'string', path: '.status.phase' },
    { name: 'Ready', type: 'string', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', path: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Replicas', type: 'string', path: '.status.availableReplicas' },
    { name: 'Image', type: 'string', path: '.spec.image' },
    { name: 'URL', type: 'string', path: '.status.serviceURL', priority: 1, description: 'Where it answers.' },
    { name: 'Revision', type: 'string', path: '.status.lastRevisionName', priority: 1 },
    { name: 'Message', type: 'string', path: '.status.message', priority: 1 },
  ],
  scale: { specPath: '.spec.replicas', statusPath: '.status.replicas', selectorPath: '.status.selector' },
});
export type ModelDeployment = ObjectOf<typeof ModelDeployment>;
export type ModelDeploymentStatus = StatusOf<typeof ModelDeployment>;
