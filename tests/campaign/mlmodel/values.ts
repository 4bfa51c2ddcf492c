// What people write into the fields of an MLModel, beside what types and meanings suggest, and whole values of which parts are
// changed.

import type { MLModel } from '../../../src/api/index.ts';
import { quantityOf } from '../../../src/objects/index.ts';
import type { Meanings } from '../meaning.ts';
import type { Json } from '../property.ts';
import { furniture } from '../words.ts';
import { quick } from './bases.ts';

export const means: Meanings['means'] = {
  'spec.modelURL': 'url',
  'spec.storageSize': 'size',
  'spec.replicas': 'replicas',
  'spec.digest': 'digest',
  'spec.credentials': 'secret',
  'spec.storageClassName': 'storageClass',
  'spec.server.image': 'image',
  'spec.server.command[]': 'argument',
  'spec.server.args[]': 'argument',
  'spec.server.port': 'port',
  'spec.server.healthPath': 'path',
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

export const values: Meanings['values'] = {
  'spec.server': [{}, { image: 'own:2', port: 9001 }],
  'spec.rollout': [{}, { strategy: 'surge' }],
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
  'spec.tolerations': [[{ operator: 'Exists' }], [{ key: 'a', operator: 'Exists', value: 'b' }]],
  'spec.tolerations[]': [
    { key: 'a', effect: 'NoExecute', tolerationSeconds: 5 },
    { key: 'a', effect: 'NoSchedule', tolerationSeconds: 5 },
    {},
  ],
  'spec.imagePullSecrets[]': [{ name: furniture.secret }],
  'spec.podLabels': [{ team: 'red' }, { 'app.kubernetes.io/name': 'other' }, { 'no blanks': 'x' }],
  'spec.podAnnotations': [
    quick,
    { ...quick, note: 'n'.repeat(16_000) },
    { 'sim.baton.dev/container': 'server', 'sim.baton.dev/fault': 'crash' },
    { 'sim.baton.dev/container': 'server', 'sim.baton.dev/fault': 'image-pull-error' },
    { 'sim.baton.dev/container': 'download', 'sim.baton.dev/exit-code': '42' },
  ],
};

export const examples: Meanings['examples'] = {
  'spec.server': [{ image: 'own:1', port: 9000, command: ['serve'], args: ['--port=9000'], healthPath: '/ok' }],
  'spec.server.command': [['serve', 'now']],
  'spec.server.args': [['--port=9000', '--model={model}']],
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
  'spec.podAnnotations': [{ ...quick, note: 'x' }],
};

type Spec = MLModel['spec'];

/** A source that no model had before, so that it is fetched. */
let sources = 0;
export const fetched = (spec: Json): Json =>
  (spec as Partial<Spec>).modelURL?.startsWith('https:')
    ? { ...(spec as Spec), modelURL: `https://models.example/fetched-${++sources}.onnx` }
    : spec;

/** A download that is to fail must be one that is still to come. */
export const fetchedToFail = (spec: Json): Json =>
  'sim.baton.dev/exit-code' in ((spec as Partial<Spec>).podAnnotations ?? {}) ? fetched(spec) : spec;

/** A volume of less than a byte: what a provisioner makes of that is its own affair. */
export const isDust = (path: string, value: Json): boolean =>
  path === 'spec.storageSize' &&
  (typeof value === 'string' ? (quantityOf(value) ?? 0n) : 1_000_000_000n) < 1_000_000_000n;

/**
 * More processors than Kubernetes can count in thousandths: its scheduler then finds no node for anybody's pods any more, so
 * that nothing else could be judged beside it.
 */
export const isOverflow = (path: string, value: Json): boolean =>
  path.startsWith('spec.resources') && /1Ei|9223372036854775808|9007199254740/.test(JSON.stringify(value) ?? '');
