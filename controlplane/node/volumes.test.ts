import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Claim, growing, limitOf, released, type Volume, volumeFor, waiting } from './volumes.ts';

const claim = (change: Partial<Claim['spec']> = {}, { node = 'node-1', by = 'baton.dev/local' } = {}): Claim => ({
  metadata: {
    name: 'weights',
    namespace: 'models',
    uid: '1234',
    annotations: {
      'volume.kubernetes.io/storage-provisioner': by,
      ...(node && { 'volume.kubernetes.io/selected-node': node }),
    },
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
  assert.deepEqual(waiting([claim({}, { node: '' })]), []);
});

test('a claim that has a volume, or is for others to serve, is left alone', () => {
  assert.deepEqual(waiting([claim({ volumeName: 'pvc-1234' }), claim({}, { by: 'disks.example.com' })]), []);
});

test('a volume is as large as asked, bound to its claim, and on the node of the pod', () => {
  const { metadata, spec } = volumeFor(claim(), { path: (node, name) => `/disks/${node}/${name}` });
  assert.equal(metadata.name, 'pvc-1234');
  assert.deepEqual(spec.capacity, { storage: '2Gi' });
  assert.deepEqual(spec.local, { path: '/disks/node-1/pvc-1234' });
  assert.equal(spec.claimRef.uid, '1234');
  assert.deepEqual(spec.nodeAffinity.required.nodeSelectorTerms[0]?.matchExpressions[0]?.values, ['node-1']);
});

test('only a limited volume keeps to its size', () => {
  assert.equal(limitOf(claim()), undefined);
  assert.equal(limitOf(claim({}, { by: 'baton.dev/limited' })), 2n * 2n ** 30n);
});

test('a volume grows when its claim asks for more than it has', () => {
  const held = (storage: string, by?: string): Claim => ({
    ...claim({}, by === undefined ? {} : { by }),
    status: { phase: 'Bound', capacity: { storage } },
  });
  assert.equal(growing([held('1Gi')]).length, 1);
  assert.deepEqual(growing([claim(), held('2Gi'), held('3Gi'), held('1Gi', 'disks.example.com')]), []);
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
