// The few fields of a pod that people set, the same in every kind. There is no embedded pod template: what is not named
// here is ours to decide, so that every pod passes the restricted Pod Security profile.

import * as z from 'zod';
import {
  annotationMap,
  type Json,
  labelMap,
  labelText,
  listMap,
  mapOf,
  objectName,
  quantity,
  withRules,
} from '../schema/index.ts';

const amounts = () =>
  withRules(mapOf(quantity(), { max: 16, keyLength: 128 }), {
    rule: "self.all(key, !format.qualifiedName().validate(key).hasValue() && (key in ['cpu', 'memory', 'ephemeral-storage'] || key.startsWith('hugepages-') || key.contains('/')))",
    message: 'must have resources as keys: cpu, memory, ephemeral-storage, hugepages-2Mi, or such as example.com/gpu',
  });

const amount = (of: string) => `quantity(string(self.${of}[key]))`;

const resources = withRules(
  z.object({
    requests: amounts()
      .optional()
      .describe('What the container needs to be scheduled: at most what limits say, and of devices the same.'),
    limits: amounts().optional().describe('What the container may use at the most.'),
  }),
  {
    rule: `!has(self.requests) || !has(self.limits) || self.requests.all(key, !(key in self.limits) || ${amount('requests')}.compareTo(${amount('limits')}) <= 0)`,
    message: 'must not be greater than limits',
    fieldPath: '.requests',
  },
  {
    rule: `!has(self.requests) || self.requests.all(key, !key.contains('/') && !key.startsWith('hugepages-') || has(self.limits) && key in self.limits && ${amount('requests')}.compareTo(${amount('limits')}) == 0)`,
    message: 'must be what limits say of devices and hugepages: leave those out here, and name them in limits',
    fieldPath: '.requests',
  },
);

const secretKey = z.object({
  name: objectName().describe('The name of a Secret in the same namespace.'),
  key: z
    .string()
    .min(1)
    .max(253)
    // As in a Secret: not `.`, and nothing that begins with `..`.
    .regex(/^([-_A-Za-z0-9]|\.[-_A-Za-z0-9])[-._A-Za-z0-9]*$/)
    .describe('The key in the Secret.'),
});

const variable = withRules(
  z.object({
    name: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/)
      .describe('The name of the variable.'),
    value: z.string().max(32768).optional().describe('The value of the variable.'),
    secret: secretKey.optional().describe('The value comes from a Secret instead.'),
  }),
  { rule: 'has(self.value) != has(self.secret)', message: 'a variable has either a value or a secret' },
);

const taint = withRules(z.string().max(316), {
  rule: "self == '' || !format.qualifiedName().validate(self).hasValue()",
  message: 'must be the key of a taint, such as dedicated or example.com/dedicated',
});

const toleration = withRules(
  z.object({
    key: taint.optional().describe('The taint that is tolerated; all of them if left out.'),
    operator: z.enum(['Exists', 'Equal']).optional().describe('How the value is compared; Equal if left out.'),
    value: labelText().optional().describe('The value of the taint; not with operator Exists.'),
    effect: z
      .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
      .optional()
      .describe('The effect that is tolerated; all of them if left out.'),
    tolerationSeconds: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .optional()
      .describe('How long NoExecute is tolerated; only with that effect.'),
  }),
  {
    rule: "has(self.key) && self.key != '' || has(self.operator) && self.operator == 'Exists'",
    message: 'must be Exists where no key is named',
    fieldPath: '.operator',
  },
  {
    rule: "!has(self.value) || self.value == '' || !has(self.operator) || self.operator != 'Exists'",
    message: 'must be left out with operator Exists, which asks for no value',
    fieldPath: '.value',
  },
  {
    rule: "!has(self.tolerationSeconds) || has(self.effect) && self.effect == 'NoExecute'",
    message: 'is only for effect NoExecute: name that, or leave this out',
    fieldPath: '.tolerationSeconds',
  },
);

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
  resources: resources.optional().describe('Compute resources of the container.'),
  env: listMap('name', variable, 64).optional().describe('Environment variables of the container.'),
  nodeSelector: labelMap(32).optional().describe('Labels that a node must have.'),
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
  podLabels: withRules(labelMap(32), ...ours)
    .optional()
    .describe('Further labels of the pods.'),
  podAnnotations: annotationMap(32).optional().describe('Annotations of the pods.'),
  priorityClassName: objectName().optional().describe('The priority class of the pods.'),
  runtimeClassName: objectName().optional().describe('The runtime class of the pods.'),
};

/** The pod fields of an object, as a controller sees them. */
export type PodFields = Json<z.output<z.ZodObject<typeof podFields>>>;
