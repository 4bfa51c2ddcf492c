import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { claimCause, expansionCause, type KubeEvent, type PersistentVolumeClaim, unboundCause } from '../index.ts';
import { aClaim, anEvent, boundClaim, claimThatCannotGrow, lostClaim, pendingClaim } from './fixtures/claims.ts';

const about = (type: KubeEvent['type'], reason: string, message: string, minute = 0): KubeEvent =>
  anEvent(pendingClaim, type, { reason, message, minute });

const noClass = about('Warning', 'ProvisioningFailed', 'storageclass.storage.k8s.io "fast" not found', 1);
const noVolume = about(
  'Normal',
  'FailedBinding',
  'no persistent volumes available for this claim and no storage class is set',
  2,
);
const full = about(
  'Warning',
  'ProvisioningFailed',
  'failed to provision volume with StorageClass "fast": rpc error: code = ResourceExhausted desc = no room in zone a, RequestID: 6ac9-77',
  3,
);
const external = about(
  'Normal',
  'ExternalProvisioning',
  "Waiting for a volume to be created either by the external provisioner 'csi.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.",
  4,
);
const firstConsumer = about(
  'Normal',
  'WaitForFirstConsumer',
  'waiting for first consumer to be created before binding',
  5,
);
const gone = about('Warning', 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!', 6);
const stranger: KubeEvent = { ...noClass, involvedObject: { ...noClass.involvedObject, uid: 'another' } };
/** As newer writers do it: no count, no first and last time. */
const newer: KubeEvent = {
  ...about('Warning', 'ProvisioningFailed', 'newer words'),
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: '2026-11-04T09:59:00.000001Z',
};

const waits = 'PersistentVolumeClaim iris-weights has no volume yet';
const missingClass = `${waits}: storageclass.storage.k8s.io "fast" not found (create that class, or name another in storageClassName)`;
const noRoom = `${waits}: failed to provision volume with StorageClass "fast": rpc error: code = ResourceExhausted desc = no room in zone a, RequestID: …`;

describe('claimCause', () => {
  const rows: { name: string; claim: PersistentVolumeClaim; events: KubeEvent[]; is: string[] }[] = [
    { name: 'nobody has looked at it', claim: aClaim(undefined), events: [], is: [] },
    { name: 'no events', claim: pendingClaim, events: [], is: [] },
    { name: 'no such class', claim: pendingClaim, events: [noClass], is: ['ClaimPending', missingClass] },
    {
      name: 'no volume and no class, which is reported as normal',
      claim: pendingClaim,
      events: [noVolume],
      is: [
        'ClaimPending',
        `${waits}: no persistent volumes available for this claim and no storage class is set (name a storageClassName, or make one class the default)`,
      ],
    },
    { name: 'the newest warning', claim: pendingClaim, events: [noClass, full], is: ['ClaimPending', noRoom] },
    {
      name: 'a provisioner that tries again',
      claim: pendingClaim,
      events: [full, external],
      is: ['ClaimPending', noRoom],
    },
    {
      name: 'an event without the older times',
      claim: pendingClaim,
      events: [full, newer],
      is: ['ClaimPending', `${waits}: newer words`],
    },
    { name: 'the provisioner is at work', claim: pendingClaim, events: [external], is: [] },
    { name: 'it waits for a pod', claim: pendingClaim, events: [firstConsumer], is: [] },
    { name: 'it was mended and waits for a pod', claim: pendingClaim, events: [noClass, firstConsumer], is: [] },
    { name: 'events of another claim', claim: pendingClaim, events: [stranger], is: [] },
    { name: 'bound in the end', claim: boundClaim, events: [noClass, full], is: [] },
    {
      name: 'lost',
      claim: lostClaim,
      events: [gone],
      is: [
        'ClaimLost',
        'PersistentVolumeClaim iris-weights lost its volume pvc-6c1f8a52-3f3e-4c83-8a77-0c1d2f9b5e01: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
      ],
    },
    {
      name: 'lost long ago',
      claim: lostClaim,
      events: [],
      is: [
        'ClaimLost',
        'PersistentVolumeClaim iris-weights lost its volume pvc-6c1f8a52-3f3e-4c83-8a77-0c1d2f9b5e01: the data on it is gone',
      ],
    },
  ];
  for (const { name, claim, events, is } of rows)
    test(name, () => {
      for (const order of [events, events.toReversed()]) {
        const cause = claimCause(claim, order);
        deepEqual(cause ? [cause.reason, cause.message] : [], is);
      }
    });

  test('names the claim', () => equal(claimCause(pendingClaim, [full])?.object, 'PersistentVolumeClaim iris-weights'));
});

describe('unboundCause', () => {
  const says = (claim: PersistentVolumeClaim, events: KubeEvent[]) => unboundCause(claim, events)?.message;

  test('takes whatever words there are', () => {
    equal(says(pendingClaim, [firstConsumer]), `${waits}: waiting for first consumer to be created before binding`);
    equal(says(pendingClaim, [full, external]), noRoom);
  });
  test('admits when there are none', () => equal(says(pendingClaim, []), `${waits}: no reason is given`));
  test('says nothing of a bound claim', () => equal(says(boundClaim, [full]), undefined));
});

test('expansionCause tells why a claim does not grow', () => {
  deepEqual(
    [expansionCause(claimThatCannotGrow)?.message, expansionCause(boundClaim)],
    [
      'PersistentVolumeClaim iris-weights cannot grow: failed to expand pvc with rpc error: code = InvalidArgument desc = volume is larger than the pool that holds it',
      undefined,
    ],
  );
});
