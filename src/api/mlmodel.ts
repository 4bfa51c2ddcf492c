// MLModel: weights from somewhere, served. One schema gives the type, the CRD and the reference table in docs/spec.

import * as z from 'zod';
import {
  commonStatus,
  defineKind,
  type ObjectOf,
  objectName,
  quantity,
  type StatusOf,
  withRules,
} from '../schema/index.ts';
import { imageName } from './images.ts';
import { podFields } from './podfields.ts';
import { rolloutFields } from './rollout.ts';

const modelURL = withRules(
  z
    .string()
    .min(8)
    .max(2048)
    // Printable ASCII without blanks: it is handed on as one argument, but it is also shown to people.
    .regex(/^(https?|s3|hf|oci|pvc):\/\/[!-~]+$/),
  {
    // What stands behind the first slash, question mark or hash names no user.
    rule: "!self.matches('^[a-z0-9]+://[^/?#]*@')",
    message: 'must not hold a user name or password: name a Secret in credentials',
  },
);

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

/** The name of a claim, as the API server wants it. */
const claimName = `${label}([.]${label})*`;

const storageSize = withRules(
  quantity(),
  {
    rule: "isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0'))",
    message: 'must be a quantity greater than zero, such as 10Gi',
  },
  {
    rule: "!isQuantity(string(self)) || !quantity(string(self)).isGreaterThan(quantity('1Pi'))",
    message: 'must be at most 1Pi',
  },
);

const server = z.object({
  image: imageName(
    'must be the name of an image: registry.example/team/server:tag, or with @sha256:... instead of the tag or behind it',
  )
    .optional()
    .describe("The image of the server, instead of the framework's."),
  command: z.array(z.string().max(4096)).max(64).optional().describe('The program to run, instead of the entrypoint.'),
  args: z.array(z.string().max(4096)).max(128).optional().describe("Its arguments, instead of the framework's."),
  port: z.int32().min(1).max(65535).optional().describe('The port on which it answers over HTTP.'),
  healthPath: z
    .string()
    .max(512)
    .regex(/^\/[!-~]*$/)
    .optional()
    .describe('The path that answers 200 once the model is loaded.'),
});

const spec = z.object({
  modelURL: modelURL.describe('Where the weights are: https, http, s3, hf, oci, or pvc://claim/path.'),
  storageSize: storageSize
    .optional()
    .describe(
      'The size of the volume for the weights, such as 10Gi; only an image (oci) that is downloaded tells its own.',
    ),
  framework: z
    .enum(['onnx', 'tensorflow', 'pytorch', 'sklearn', 'xgboost', 'huggingface', 'vllm', 'custom'])
    .describe('What serves the weights.'),
  replicas: z
    .int32()
    .min(0)
    .max(1_000)
    .default(1)
    .describe('How many servers run; 0 stops serving and keeps the weights.'),
  expose: z.boolean().default(false).describe('Whether the model is reachable from outside the cluster, too.'),
  digest: z
    .string()
    .max(71)
    .regex(/^sha256:[0-9a-f]{64}$/)
    .optional()
    .describe(
      'What the download must hash to, or the digest of the image; without it the first result is recorded and pinned.',
    ),
  credentials: objectName()
    .optional()
    .describe('A Secret with which the weights are fetched; only the download sees it.'),
  accessMode: z
    .enum(['ReadWriteOnce', 'ReadWriteMany'])
    .default('ReadWriteOnce')
    .describe('Whether servers on several nodes may mount the volume.'),
  storageClassName: objectName().optional().describe('The storage class of new volumes.'),
  retain: z.boolean().default(false).describe('Whether the volume stays when the model is deleted.'),
  server: server.optional().describe("What differs from the framework's server."),
  rollout: rolloutFields('How many former revisions are kept with their weights; each needs its own storage.'),
  ...podFields,
});

const status = commonStatus.extend({
  serviceEndpoint: z.string().max(512).optional().describe('Where the model answers inside the cluster.'),
  url: z.string().max(512).optional().describe('Where the model answers inside the cluster, as a URL.'),
  externalURL: z
    .string()
    .max(512)
    .optional()
    .describe('Where the model answers outside the cluster, as a URL; not for a port of every node.'),
  revision: z.string().max(63).optional().describe('The revision that is asked for.'),
  servingRevision: z.string().max(63).optional().describe('The revision that serves.'),
  digest: z.string().max(128).optional().describe('The digest of the weights that are asked for.'),
  download: z
    .object({
      bytes: z.int().min(0).max(Number.MAX_SAFE_INTEGER).describe('Bytes that are there.'),
      total: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('Bytes in all, if the source says so.'),
      percent: z.int32().min(0).max(100).optional().describe('The part that is there.'),
    })
    .optional()
    .describe('How far the download is.'),
  replicas: z.int32().min(0).max(100_000).optional().describe('Servers that exist.'),
  readyReplicas: z.int32().min(0).max(100_000).optional().describe('Servers that are ready.'),
  selector: z.string().max(1024).optional().describe('The servers, as a label selector.'),
  weightsPath: z.enum(['ImageVolume', 'Claim']).optional().describe('How the weights reach the server.'),
  history: z.array(z.string().max(63)).max(16).optional().describe('Former revisions that can be returned to at once.'),
});

/** Weights from somewhere, served. */
export const MLModel = defineKind({
  group: 'baton.dev',
  version: 'v1alpha1',
  kind: 'MLModel',
  plural: 'mlmodels',
  shortNames: ['mlm'],
  categories: ['baton'],
  description: 'A machine-learning model: its weights are fetched once per revision and served.',
  spec: withRules(
    spec.describe('What is asked for.'),
    {
      rule: "has(self.storageSize) || self.modelURL.startsWith('pvc://') || self.modelURL.startsWith('oci://')",
      message: 'storageSize is required for a model that is downloaded',
      fieldPath: '.storageSize',
    },
    {
      rule: "self.framework != 'custom' || (has(self.server) && has(self.server.image) && has(self.server.port))",
      message: 'framework custom needs server.image and server.port',
      fieldPath: '.server',
    },
    {
      rule: "!self.modelURL.startsWith('pvc://') || (!has(self.digest) && !has(self.credentials) && !self.retain)",
      message: 'pvc:// weights are not downloaded: digest, credentials and retain do not apply',
      fieldPath: '.modelURL',
    },
    {
      rule: `!self.modelURL.startsWith('pvc://') || (self.modelURL.matches('^pvc://${claimName}(/[^/]+)*/?$') && self.modelURL.matches('^pvc://[^/]{1,253}(/|$)'))`,
      message: 'must be pvc://claim or pvc://claim/path, with the name of a claim in the same namespace',
      fieldPath: '.modelURL',
    },
    {
      rule: "!self.modelURL.matches('^pvc://.*/[.][.](/|$)')",
      message: 'must not lead out of the volume: leave .. out of the path, and begin it at the top of the volume',
      fieldPath: '.modelURL',
    },
    {
      rule: "!self.modelURL.startsWith('oci://') || self.modelURL.matches('^oci://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(@sha256:[0-9a-f]{64})?$')",
      message: 'must be oci://host/repository:tag, or with @sha256:... instead of the tag or behind it',
      fieldPath: '.modelURL',
    },
    {
      rule: "!self.modelURL.startsWith('oci://') || !has(self.digest) || !self.modelURL.contains('@') || self.modelURL.endsWith(self.digest)",
      message: 'must be the digest that stands in modelURL',
      fieldPath: '.digest',
    },
  ),
  status: status.describe('What is.'),
  longestName: 63,
  conditions: [
    'Available',
    'StorageReady',
    'Downloaded',
    'Serving',
    'Exposed',
    'Outdated',
    'StorageShrinkIgnored',
    'StorageChangeIgnored',
    'DataLost',
    'NodeBound',
    'Retained',
  ],
  columns: [
    { name: 'Phase', type: 'string', path: '.status.phase' },
    { name: 'Ready', type: 'string', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', path: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Replicas', type: 'string', path: '.status.readyReplicas' },
    { name: 'Percent', type: 'integer', path: '.status.download.percent', description: 'How far the download is.' },
    { name: 'Framework', type: 'string', path: '.spec.framework', priority: 1 },
    { name: 'Revision', type: 'string', path: '.status.servingRevision', priority: 1 },
    { name: 'Message', type: 'string', path: '.status.message', priority: 1 },
    { name: 'URL', type: 'string', path: '.status.externalURL', priority: 1, description: 'Where it answers outside.' },
  ],
  scale: { specPath: '.spec.replicas', statusPath: '.status.replicas', selectorPath: '.status.selector' },
});
export type MLModel = ObjectOf<typeof MLModel>;
export type MLModelStatus = StatusOf<typeof MLModel>;
