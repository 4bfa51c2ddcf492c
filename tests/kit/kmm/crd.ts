// A small KMM: the Module as a CRD with the fields that Modules of ours use and the defaults that the real one sets, so that a
// test can install it, take it away, and play KMM by labelling nodes.

const text = { type: 'string' };
const count = { type: 'integer' };
const list = (items: object) => ({ type: 'array', items });
const map = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const texts = { type: 'object', additionalProperties: text };

const kernelMapping = map({ literal: text, regexp: text, containerImage: text });
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
  { required: ['modprobe', 'kernelMappings'] },
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
