// A small Gateway API: the HTTPRoute as a CRD with the fields that routes of ours use and the defaults that the real one
// sets, so that a test can install it, take it away, and play the gateway by writing status.

const text = { type: 'string' };
const list = (items: object) => ({ type: 'array', items });
const map = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

const parentRef = map(
  {
    group: { ...text, default: 'gateway.networking.k8s.io' },
    kind: { ...text, default: 'Gateway' },
    namespace: text,
    name: text,
    sectionName: text,
  },
  { required: ['name'] },
);
const backendRef = map(
  {
    group: { ...text, default: '' },
    kind: { ...text, default: 'Service' },
    name: text,
    port: { type: 'integer' },
    weight: { type: 'integer', default: 1 },
  },
  { required: ['name'] },
);
const path = map({ type: { ...text, default: 'PathPrefix' }, value: { ...text, default: '/' } });
const matches = {
  ...list(map({ path: { ...path, default: { type: 'PathPrefix', value: '/' } } })),
  default: [{ path: { type: 'PathPrefix', value: '/' } }],
};
const spec = map({
  parentRefs: list(parentRef),
  hostnames: list(text),
  rules: list(map({ matches, backendRefs: list(backendRef) })),
});
const condition = map({
  type: text,
  status: text,
  reason: text,
  message: text,
  observedGeneration: { type: 'integer' },
  lastTransitionTime: { type: 'string', format: 'date-time' },
});
const status = map({ parents: list(map({ parentRef, controllerName: text, conditions: list(condition) })) });

const group = 'gateway.networking.k8s.io';

export const routeCRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `httproutes.${group}`,
    // The API server takes the group of others only with a word about who approved it.
    annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api/pull/3328' },
  },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'HTTPRoute', listKind: 'HTTPRouteList', plural: 'httproutes', singular: 'httproute' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: map({ spec, status }) },
      },
    ],
  },
};
