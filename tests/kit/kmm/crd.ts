// A small KMM: the Module as a CRD with the fields that Modules of ours use, the defaults that the real one sets, and the rules of
// its webhook that we could break. So a test can install it, take it away, and play KMM by labelling nodes.

const text = { type: 'string' };
const count = { type: 'integer' };
const list = (items: object) => ({ type: 'array', items });
const map = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const texts = { type: 'object', additionalProperties: text };

/** With a tag or a digest. */
const image = { ...text, pattern: '[:@]' };
const isSet = (field: string) => ({ required: [field], properties: { [field]: { minLength: 1 } } });
const kernelMapping = map(
  { literal: text, regexp: text, containerImage: image },
  { anyOf: [isSet('literal'), isSet('regexp')] },
);
const modprobe = map(
  { moduleName: text, parameters: list(text), dirName: { ...text, default: '/opt' } },
  { required: ['moduleName'] },
);
const loader = map(
  {
    modprobe,
    kernelMappings: { ...list(kernelMapping), minItems: 1 },
    imagePullPolicy: { ...text, default: 'IfNotPresent' },
    version: text,
  },
  {
    required: ['modprobe', 'kernelMappings'],
    'x-kubernetes-validations': [
      { rule: 'has(self.version) == has(oldSelf.version)', message: 'cannot update to or from an empty version' },
    ],
  },
);
const plugin = map(
  { image: text, imagePullPolicy: { ...text, default: 'IfNotPresent' }, args: list(text) },
  { required: ['image'] },
);
const toleration = map({ key: text, operator: text, value: text, effect: text, tolerationSeconds: count });
const spec = map(
  {
    moduleLoader: map({ container: loader, serviceAccountName: text }, { required: ['container'] }),
    devicePlugin: map({ container: plugin, serviceAccountName: text }, { required: ['container'] }),
    imageRepoSecret: map({ name: text }),
    selector: texts,
    tolerations: list(toleration),
  },
  { required: ['moduleLoader', 'selector'] },
);
const counts = map({ nodesMatchingSelectorNumber: count, desiredNumber: count, availableNumber: count });
const status = map({ moduleLoader: counts, devicePlugin: counts });

const group = 'kmm.sigs.x-k8s.io';

export const moduleCRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `modules.${group}`,
    // The API server takes a group of the project only with a word about who approved it.
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/kernel-module-management' },
  },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Module', listKind: 'ModuleList', plural: 'modules', singular: 'module' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: map({ spec, status }) },
      },
    ],
  },
};

const policy = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'webhook.kmm.test.baton.dev' } };

/** No rule of a CRD sees the namespace. */
const names = [
  {
    ...policy,
    kind: 'ValidatingAdmissionPolicy',
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [group], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['modules'] },
        ],
      },
      validations: [
        {
          expression: 'size(object.metadata.name) + size(object.metadata.namespace) <= 40',
          message: 'module name and namespace exceed the maximum of 40',
        },
      ],
    },
  },
  {
    ...policy,
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: policy.metadata.name, validationActions: ['Deny'] },
  },
];

/** Everything that an installation of KMM brings. */
export const kmmManifest = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...names, moduleCRD] });
