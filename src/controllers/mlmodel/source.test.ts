// What names weights and attempts: each field of a model either belongs to one of them or does not.

import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aModel } from '../../../tests/kit/mlmodel.ts';
import { mark, type MLModel } from '../../api/index.ts';
import { revisionName } from './revision.ts';
import { attemptOf, sourceOf } from './source.ts';

const digest = `sha256:${'0'.repeat(64)}`;
const same = aModel();

/** For each edit: whether the weights, the attempt and the revision are others afterwards. */
const edits: [what: string, edited: MLModel, changes: ('weights' | 'attempt' | 'revision')[]][] = [
  ['modelURL', aModel({ modelURL: 'https://models.example/2' }), ['weights', 'revision']],
  ['digest', aModel({ digest }), ['weights', 'revision']],
  ['accessMode', aModel({ accessMode: 'ReadWriteMany' }), ['weights', 'revision']],
  ['storageSize', aModel({ storageSize: '9Gi' }), ['attempt']],
  ['storageClassName', aModel({ storageClassName: 'fast' }), ['attempt']],
  ['credentials', aModel({ credentials: 'mine' }), ['attempt']],
  ['the retry annotation', aModel({}, { annotations: { [mark.retry]: '1' } }), ['attempt']],
  ['the refresh annotation', aModel({}, { annotations: { [mark.refresh]: '1' } }), ['revision']],
  ['another annotation', aModel({}, { annotations: { other: '1' } }), []],
  ['replicas', aModel({ replicas: 5 }), []],
  ['expose', aModel({ expose: true }), []],
  ['retain', aModel({ retain: true }), []],
  ['rollout', aModel({ rollout: { strategy: 'surge', progressDeadlineSeconds: 30, history: 3 } }), []],
  ['framework to one with another layout', aModel({ framework: 'tensorflow' }), ['weights', 'revision']],
  ['framework to a repository of models', aModel({ framework: 'pytorch' }), ['weights', 'revision']],
  ['framework to one file', aModel({ framework: 'sklearn' }), ['weights', 'revision']],
  ['framework to a folder', aModel({ framework: 'vllm' }), ['weights', 'revision']],
  ['framework to one that takes everything', aModel({ framework: 'custom' }), ['weights', 'revision']],
  ['an empty list', aModel({ imagePullSecrets: [], env: [] }), []],
  ['an empty map', aModel({ nodeSelector: {}, server: {} }), []],
  ['server', aModel({ server: { args: [] } }), ['revision']],
  ['env', aModel({ env: [{ name: 'A', value: 'b' }] }), ['revision']],
  ['resources', aModel({ resources: { limits: { memory: '1Gi' } } }), ['revision']],
  ['serviceAccountName', aModel({ serviceAccountName: 'mine' }), ['revision']],
  ['nodeSelector', aModel({ nodeSelector: { a: 'b' } }), ['attempt', 'revision']],
  ['tolerations', aModel({ tolerations: [{ key: 'gpu' }] }), ['attempt', 'revision']],
  ['imagePullSecrets', aModel({ imagePullSecrets: [{ name: 'a' }] }), ['attempt', 'revision']],
  ['podLabels', aModel({ podLabels: { a: 'b' } }), ['attempt', 'revision']],
  ['podAnnotations', aModel({ podAnnotations: { a: 'b' } }), ['attempt', 'revision']],
  ['priorityClassName', aModel({ priorityClassName: 'high' }), ['attempt', 'revision']],
  ['runtimeClassName', aModel({ runtimeClassName: 'gvisor' }), ['attempt', 'revision']],
];

describe('an edit of', () => {
  for (const [what, edited, changes] of edits)
    test(`${what} changes ${changes.join(' and ') || 'nothing of the three'}`, () => {
      const named = (model: MLModel) => ({
        weights: sourceOf(model).claim,
        attempt: attemptOf(model),
        revision: revisionName(model),
      });
      const [before, after] = [named(same), named(edited)];
      const changed = (['weights', 'attempt', 'revision'] as const).filter((part) => before[part] !== after[part]);
      deepEqual(changed, changes);
    });
});

test('a source is read from its URL', () => {
  deepEqual(sourceOf(aModel({ modelURL: 'pvc://shelf' })), { from: 'claim', claim: 'shelf', path: '' });
  deepEqual(sourceOf(aModel({ modelURL: 'pvc://shelf/a/b/' })), { from: 'claim', claim: 'shelf', path: 'a/b' });
  const { from, claim } = sourceOf(same);
  equal(from, 'download');
  equal(claim.startsWith('iris-weights-'), true);
});

test('frameworks share the weights that both take in the same arrangement', () => {
  const of = (framework: MLModel['spec']['framework']) => sourceOf(aModel({ framework })).claim;
  equal(of('huggingface'), of('vllm'));
  notEqual(of('sklearn'), of('xgboost'));
  notEqual(of('onnx'), of('custom'));
});

test('models of different names share no claim, though their source is the same', () => {
  notEqual(sourceOf(same).claim, sourceOf(aModel({}, { name: 'rose' })).claim);
});
