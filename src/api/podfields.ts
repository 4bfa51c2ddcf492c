// The few fields of a pod that people set, the same in every kind. There is no embedded pod template: what is not named
// here is ours to decide, so that every pod passes the restricted Pod Security profile.

import * as z from 'zod';
import { type Json, listMap, mapOf, objectName, quantity, withRules } from '../schema/index.ts';

const text = (max: number) => z.string().max(max);
const amounts = () => mapOf(quantity(), { max: 16, keyLength: 128 });

const secretKey = z.object({
  name: objectName().describe('The name of a Secret in the same namespace.'),
  key: z.string().min(1).max(253).describe('The key in the Secret.'),
});

const variable = withRules(
  z.object({
    name: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/)
      .describe('The name of the variable.'),
    value: text(32768).optional().describe('The value of the variable.'),
    secret: secretKey.optional().describe('The value comes from a Secret instead.'),
  }),
  { rule: 'has(self.value) != has(self.secret)', message: 'a variable has either a value or a secret' },
);

const toleration = z.object({
  key: text(316).optional().describe('The taint that is tolerated; all of them if left out.'),
  operator: z.enum(['Exists', 'Equal']).optional().describe('How the value is compared.'),
  value: text(63).optional().describe('The value of the taint.'),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional().describe('The effect that is tolerated.'),
  tolerationSeconds: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .optional()
    .describe('How long NoExecute is tolerated.'),
});

const ours = [
  { rule: "self.all(key, !key.startsWith('baton.dev/'))", message: 'labels under baton.dev/ are ours' },
  {
    // Ours would win over them, and nobody would hear of it.
    rule: "self.all(key, !(key in ['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'app.kubernetes.io/component', 'app.kubernetes.io/managed-by']))",
    message: 'app.kubernetes.io/name, instance, component and managed-by are ours',
  },
];

/** The optional pod fields, to be spread into the spec of a kind. */
export const podFields = {
  resources: z
    .object({
      requests: amounts().optional().describe('What the container needs to be scheduled.'),
      limits: amounts().optional().describe('What the container may use at the most.'),
    })
    .optional()
    .describe('Compute resources of the container.'),
  env: listMap('name', variable, 64).optional().describe('Environment variables of the container.'),
  nodeSelector: mapOf(text(63), { max: 32, keyLength: 316 }).optional().describe('Labels that a node must have.'),
  tolerations: z.array(toleration).max(32).optional().describe('Taints that the pods tolerate.'),
  // Told apart by name as in a pod, which the API server lets have one twice when it is made, and not when it is edited.
  imagePullSecrets: listMap(
    'name',
    z.object({ name: objectName().describe('The name of a Secret in the same namespace.') }),
    8,
  )
    .optional()
    .describe('Secrets with which images are pulled.'),
  serviceAccountName: objectName().optional().describe('The ServiceAccount of the pods; its token is not mounted.'),
  podLabels: withRules(mapOf(text(63), { max: 32, keyLength: 316 }), ...ours)
    .optional()
    .describe('Further labels of the pods.'),
  podAnnotations: mapOf(text(16384), { max: 32, keyLength: 316 }).optional().describe('Annotations of the pods.'),
  priorityClassName: objectName().optional().describe('The priority class of the pods.'),
  runtimeClassName: objectName().optional().describe('The runtime class of the pods.'),
};

/** The pod fields of an object, as a controller sees them. */
export type PodFields = Json<z.output<z.ZodObject<typeof podFields>>>;
