import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Claim, limitOf, released, type Volume, volumeFor, waiting } from './volumes.ts';

const claim = (change: Partial<Claim['spec']> = {}, node: string | undefined = 'node-1'): Claim => ({
  metadata: {
    name: 'weights',
    namespace: 'models',
    uid: '1234',
    ...(node && { annotations: { 'volume.kubernetes.io/selected-node': node } }),
  },
  spec: {
    storageClassName: 'standard',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '2Gi' } },
    ...change,
  },
});

test('a claim waits for a volume when its pod has a node', () => {
  assert.equal(waiting([claim()]).length, 1);
  assert.deepEqual(waiting([claim({}, '')]), []);
});

test('a claim that has a volume, or is of another class, is left alone', () => {
  assert.deepEqual(waiting([claim({ volumeName: 'pvc-1234' }), claim({ storageClassName: 'fast' })]), []);
});

test('a volume is as large as asked, bound to its claim, and on the node of the pod', () => {
  const { metadata, spec } = volumeFor(claim(), { path: (node, name) => `/disks/${node}/${name}` });
  assert.equal(metadata.name, 'pvc-1234');
  assert.deepEqual(spec.capacity, { storage: '2Gi' });
  assert.deepEqual(spec.local, { path: '/disks/node-1/pvc-1234' });
  assert.equal(spec.claimRef.uid, '1234');
  assert.deepEqual(spec.nodeAffinity.required.nodeSelectorTerms[0]?.matchExpressions[0]?.values, ['node-1']);
});

test('only the limited class keeps to the size', () => {
  assert.equal(limitOf(claim()), undefined);
  assert.equal(limitOf(claim({ storageClassName: 'limited' })), 2n * 2n ** 30n);
});

const volume = (phase: string, policy = 'Delete', by = 'baton.dev/local'): Volume => ({
  metadata: { name: 'pvc-1234', annotations: { 'pv.kubernetes.io/provisioned-by': by } },
  spec: { persistentVolumeReclaimPolicy: policy },
  status: { phase },
});

test('a volume is removed when its claim is gone, unless somebody keeps it or another made it', () => {
  assert.equal(released([volume('Released')]).length, 1);
  const kept = [volume('Bound'), volume('Available'), volume('Released', 'Retain'), volume('Released', 'Delete', 'x')];
  assert.deepEqual(released(kept), []);
});
