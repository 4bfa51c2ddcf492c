// What people write into the fields of an MLModel, beside what types and meanings suggest, and whole values of which parts are
// changed.

import type { MLModel } from '../../../src/api/index.ts';
import { quantityOf } from '../../../src/objects/index.ts';
import type { Meanings } from '../meaning.ts';
import type { Json } from '../property.ts';
import { podExamples, podMeans, podValues } from '../podfields.ts';
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
  ...podMeans,
};

export const values: Meanings['values'] = {
  'spec.server': [{}, { image: 'own:2', port: 9001 }],
  'spec.rollout': [{}, { strategy: 'surge' }],
  ...podValues,
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
  ...podExamples,
  'spec.podAnnotations': [{ ...quick, note: 'x' }],
};

type Spec = MLModel['spec'];

/** A source that no model had before, so that it is fetched. */
let sources = 0;
export const fetched = (spec: Json): Json =>
  /^(https?|s3|hf):/.test((spec as Partial<Spec>).modelURL ?? '')
    ? { ...(spec as Spec), modelURL: `https://models.example/fetched-${++sources}.onnx` }
    : spec;

/** A download that is to fail must be one that is still to come. */
export const fetchedToFail = (spec: Json): Json =>
  'sim.baton.dev/exit-code' in ((spec as Partial<Spec>).podAnnotations ?? {}) ? fetched(spec) : spec;

/** A volume of less than a byte: what a provisioner makes of that is its own affair. */
export const isDust = (path: string, value: Json): boolean =>
  path === 'spec.storageSize' &&
  (typeof value === 'string' ? (quantityOf(value) ?? 0n) : 1_000_000_000n) < 1_000_000_000n;
