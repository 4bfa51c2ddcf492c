// The kinds with which the engine is tested. A Trio owns a ConfigMap, a Job and a Deployment, and between its fields
// uses every piece that a schema can have; an OldTrio is the same thing under another name.

import { z } from 'zod';
import {
  aliasOf,
  commonStatus,
  defineKind,
  dnsLabel,
  immutable,
  intOrString,
  listMap,
  mapOf,
  type ObjectOf,
  objectName,
  quantity,
  type StatusOf,
  setOf,
  withRules,
} from '../../../src/schema/index.ts';

const environmentItem = z.object({
  name: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .describe('The name of the variable.'),
  value: z.string().max(1024).default('').describe('The value of the variable.'),
});

const annotations = () => mapOf(z.string().max(4096), { max: 16, keyLength: 128 });

const spec = z.object({
  text: z.string().max(4096).describe('What the ConfigMap says.'),
  env: listMap('name', environmentItem, 32).default([]).describe('Environment of the server.'),
  labels: mapOf(z.string().max(63), { max: 16, keyLength: 63 }).optional().describe('Labels that all children carry.'),
  replicas: z.int32().min(0).max(10).default(1).describe('How many servers run.'),
  image: z.string().min(1).max(256).default('server:1').describe('The image of the server and of the Job.'),
  port: intOrString(z.int().min(1).max(65535), dnsLabel())
    .default(8080)
    .describe('The port to ask, by number or name.'),
  memory: quantity().default('16Mi').describe('Memory that each server asks for.'),
  paths: setOf(z.string().min(1).max(128), 8).optional().describe('Paths that the server answers.'),
  mode: z.enum(['Plain', 'Fancy']).default('Plain').describe('How the server speaks.'),
  withJob: z.boolean().default(true).describe('Whether a Job must succeed before the server starts.'),
  jobMessage: immutable(z.string().max(256).default('done')).describe('What the Job says; noted as its result.'),
  podAnnotations: annotations().optional().describe("Annotations of the servers' pods."),
  jobAnnotations: annotations().optional().describe("Annotations of the Job's pod."),
  readFrom: objectName().optional().describe('A ConfigMap whose greeting is copied.'),
  probe: z.string().min(1).max(256).optional().describe('A question whose answer is gathered outside the cluster.'),
  external: z.string().min(1).max(256).optional().describe('A thing outside the cluster that goes with this object.'),
});

const status = commonStatus.extend({
  replicas: z.int32().min(0).optional().describe('How many servers are there.'),
  selector: z.string().max(1024).optional().describe('Which pods count, as a label selector.'),
  result: z.string().max(256).optional().describe('What the Job found.'),
});

/** The engine's test kind. */
export const Trio = defineKind({
  group: 'test.baton.dev',
  version: 'v1alpha1',
  kind: 'Trio',
  plural: 'trios',
  shortNames: ['trio'],
  categories: ['baton'],
  description: 'A text in a ConfigMap, a Job that speaks once, and servers that speak for ever.',
  spec: withRules(spec.describe('What is asked for.'), {
    rule: "self.mode != 'Fancy' || size(self.text) > 0",
    message: 'mode Fancy needs a text',
    fieldPath: '.text',
  }),
  status: status.describe('What is.'),
  longestName: 40,
  columns: [
    { name: 'Phase', type: 'string', path: '.status.phase' },
    { name: 'Ready', type: 'string', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', path: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Replicas', type: 'integer', path: '.spec.replicas' },
    { name: 'Result', type: 'string', path: '.status.result', priority: 1, description: 'What the Job found.' },
  ],
  scale: { specPath: '.spec.replicas', statusPath: '.status.replicas', selectorPath: '.status.selector' },
});
export type Trio = ObjectOf<typeof Trio>;
export type TrioStatus = StatusOf<typeof Trio>;

/** The same kind under the names of another project. */
export const OldTrio = aliasOf(Trio, {
  group: 'old.test.baton.dev',
  version: 'v1',
  kind: 'OldTrio',
  plural: 'oldtrios',
  shortNames: ['otrio'],
});
