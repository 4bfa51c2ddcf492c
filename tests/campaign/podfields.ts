// What the campaign must know of the pod fields, which are the same in every kind: what their values mean, more of them, whole
// values of which parts are changed, and how their rules are broken.

import type { PodFields } from '../../src/api/index.ts';
import { quantityOf } from '../../src/objects/index.ts';
import type { Document, Meanings } from './meaning.ts';
import { absent, type Json } from './property.ts';
import { flat } from './state.ts';
import { furniture } from './words.ts';

/** The document with these fields of the spec. */
export const asking =
  (fields: object) =>
  (document: Document): Document => ({ ...document, spec: { ...(document.spec as object), ...fields } });

export const podMeans: Meanings['means'] = {
  'spec.env[].name': 'variable',
  'spec.env[].value': 'text',
  'spec.env[].secret.name': 'secret',
  'spec.env[].secret.key': 'secretKey',
  'spec.nodeSelector{}': 'label',
  'spec.tolerations[].key': 'labelKey',
  'spec.tolerations[].value': 'label',
  'spec.imagePullSecrets[].name': 'secret',
  'spec.serviceAccountName': 'account',
  'spec.podLabels{}': 'label',
  'spec.podAnnotations{}': 'text',
  'spec.priorityClassName': 'priorityClass',
  'spec.runtimeClassName': 'runtimeClass',
};

export const podValues: Meanings['values'] = {
  'spec.resources': [{}, { requests: { cpu: '200m', memory: '1Gi' }, limits: { memory: '2Gi' } }],
  'spec.resources.limits': [{ memory: '1Mi' }, { 'nvidia.com/gpu': 1 }, { cpu: '1', memory: '0' }],
  'spec.resources.requests': [{ cpu: '1Pi' }, { memory: '64Mi' }, { 'no such resource': '1' }],
  'spec.env': [
    [
      { name: 'A', value: '1' },
      { name: 'B', value: '$(A)' },
    ],
    [
      { name: 'B', value: '$(A)' },
      { name: 'A', value: '1' },
    ],
  ],
  'spec.env[]': [
    { name: 'THREADS', value: '2' },
    { name: 'TOKEN', secret: { name: furniture.secret, key: 'token' } },
  ],
  'spec.env[].secret': [{ name: furniture.secret, key: 'token' }],
  'spec.nodeSelector': [{ 'kubernetes.io/os': 'linux' }, { 'kubernetes.io/os': 'plan9' }, { 'no blanks': 'x' }],
  'spec.nodeSelector{}': ['linux'],
  'spec.tolerations': [[{ operator: 'Exists' }], [{ key: 'a', operator: 'Exists', value: 'b' }]],
  'spec.tolerations[]': [
    { key: 'a', effect: 'NoExecute', tolerationSeconds: 5 },
    { key: 'a', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 },
    {},
  ],
  'spec.imagePullSecrets[]': [{ name: furniture.secret }],
  'spec.podLabels': [{ team: 'red' }, { 'app.kubernetes.io/name': 'other' }, { 'no blanks': 'x' }],
};

export const podExamples: Meanings['examples'] = {
  'spec.resources': [{ requests: { cpu: '200m' }, limits: { memory: '1Gi' } }],
  'spec.resources.requests': [{ cpu: '200m' }],
  'spec.resources.limits': [{ memory: '1Gi' }],
  'spec.env': [
    [{ name: 'THREADS', value: '2' }],
    [{ name: 'TOKEN', secret: { name: furniture.secret, key: 'token' } }],
  ],
  'spec.env[]': [
    { name: 'THREADS', value: '2' },
    { name: 'TOKEN', secret: { name: furniture.secret, key: 'token' } },
  ],
  'spec.env[].secret': [{ name: furniture.secret, key: 'token' }],
  'spec.nodeSelector': [{ 'kubernetes.io/os': 'linux' }],
  'spec.tolerations': [
    [{ key: 'dedicated', operator: 'Equal', value: 'models', effect: 'NoExecute', tolerationSeconds: 60 }],
  ],
  'spec.imagePullSecrets': [[{ name: furniture.secret }]],
  'spec.podLabels': [{ team: 'red' }],
};

type Toleration = NonNullable<PodFields['tolerations']>[number];

/** The spec with tolerations changed. */
const tolerating =
  (change: (one: Toleration) => Toleration) =>
  (spec: Json): Json => {
    const { tolerations } = spec as PodFields;
    return tolerations ? { ...(spec as PodFields), tolerations: tolerations.map(change) } : spec;
  };

/** What else of a toleration goes with one of its fields. */
export const tolerationWith: Meanings['with'] = {
  'spec.tolerations[].operator': tolerating(({ value, ...one }) =>
    one.operator === 'Exists' || value === undefined ? one : { ...one, value },
  ),
  'spec.tolerations[].value': tolerating(({ operator: _operator, ...one }) => one),
  'spec.tolerations[].effect': tolerating(({ tolerationSeconds: _seconds, ...one }) => one),
  'spec.tolerations[].tolerationSeconds': tolerating((one) => ({ ...one, effect: 'NoExecute' })),
};

export const tolerationBreaks: Meanings['breaks'] = {
  'must be the key of a taint, such as dedicated or example.com/dedicated': asking({
    tolerations: [{ key: 'no blanks' }],
  }),
  'must be Exists where no key is named': asking({ tolerations: [{ value: 'x' }] }),
  'must be left out with operator Exists, which asks for no value': asking({
    tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }],
  }),
  'is only for effect NoExecute: name that, or leave this out': asking({
    tolerations: [{ key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 }],
  }),
};

const strange = { 'no blanks': '1' };

export const podBreaks: Meanings['breaks'] = {
  ...tolerationBreaks,
  'must have labels as keys, such as team or example.com/team': asking({ nodeSelector: strange, podLabels: strange }),
  'must have names of annotations as keys, such as note or example.com/note': asking({ podAnnotations: strange }),
  'must have resources as keys: cpu, memory, ephemeral-storage, hugepages-2Mi, or such as example.com/gpu': asking({
    resources: { requests: strange, limits: strange },
  }),
  'must not be greater than limits': asking({ resources: { requests: { cpu: 2 }, limits: { cpu: '1999m' } } }),
  'must be what limits say of devices and hugepages: leave those out here, and name them in limits': asking({
    resources: { requests: { 'example.com/gpu': 1 } },
  }),
  'a variable has either a value or a secret': asking({ env: [{ name: 'A' }] }),
  'labels under baton.dev/ are ours': asking({ podLabels: { 'baton.dev/name': 'x' } }),
  'app.kubernetes.io/name, instance, component and managed-by are ours': asking({
    podLabels: { 'app.kubernetes.io/name': 'x' },
  }),
};

/** Fields that are told to pods, in which they show. */
export const isInPods = (path: string): boolean =>
  /^spec\.(env|resources|nodeSelector|tolerations|imagePullSecrets|serviceAccountName|podLabels|podAnnotations|priorityClassName|runtimeClassName)/.test(
    path,
  );

/**
 * More processors than Kubernetes can count in thousandths: its scheduler then finds no node for anybody's pods any more, so
 * that nothing else could be judged beside it.
 */
export const isOverflow = (path: string, value: Json): boolean =>
  path.startsWith('spec.resources') &&
  value !== absent &&
  flat(value).some(([, leaf]) => (quantityOf(leaf.replaceAll('"', '')) ?? 0n) >= countless);

/** In billionths; two pods that ask for less can still be added up. */
const countless = 2n ** 62n * 1_000_000n;
