import { deepEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeEvent, type Pod, podEventCause } from '../index.ts';
import { anEvent } from './fixtures/claims.ts';
import { evicted, notYetReady, ready, toldToGo } from './fixtures/ended.ts';
import { creating } from './fixtures/starting.ts';

/** A pod whose sandbox is not there yet. */
const sandboxless: Pod = {
  ...creating,
  status: {
    ...creating.status,
    conditions: (creating.status?.conditions ?? []).map((one) =>
      one.type === 'PodReadyToStartContainers' ? { ...one, status: 'False' } : one,
    ),
  },
};

const about = (reason: string, message: string, minute = 0): KubeEvent =>
  anEvent(creating, 'Warning', { reason, message, minute });
const noSecret = about(
  'FailedMount',
  'MountVolume.SetUp failed for volume "credentials" : secret "iris-s3" not found',
  1,
);
const inUse = about(
  'FailedAttachVolume',
  'Multi-Attach error for volume "pvc-6c1f" Volume is already used by pod(s) iris-server-old',
  2,
);
const noAddress = about(
  'FailedCreatePodSandBox',
  `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "${'5e'.repeat(32)}": plugin type="bridge" failed (add): no IP addresses available in range set`,
  3,
);
const unhealthy = about('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503', 4);

const { uid: _uid, ...nameless } = noSecret.involvedObject;
const anonymous: KubeEvent = { ...noSecret, involvedObject: nameless };
const claimed: KubeEvent = { ...noSecret, involvedObject: { ...nameless, kind: 'PersistentVolumeClaim' } };
const called = (metadata: Partial<Pod['metadata']>): Pod => ({
  ...sandboxless,
  metadata: { ...sandboxless.metadata, ...metadata },
});
const leaving = called({ deletionTimestamp: '2026-11-04T09:30:00Z' });

describe('podEventCause', () => {
  const rows: { name: string; pod: Pod; events: KubeEvent[]; is: string[] }[] = [
    { name: 'no events', pod: sandboxless, events: [], is: [] },
    {
      name: 'a Secret to be mounted is missing',
      pod: sandboxless,
      events: [noSecret],
      is: [
        'ContainerConfigError',
        'Pod iris-a cannot be started: MountVolume.SetUp failed for volume "credentials" : secret "iris-s3" not found (create it, or name another)',
      ],
    },
    {
      name: 'the volume is on another node',
      pod: sandboxless,
      events: [noSecret, inUse],
      is: [
        'VolumeUnavailable',
        'Pod iris-a cannot be started: Multi-Attach error for volume "pvc-6c1f" Volume is already used by pod(s) iris-server-old',
      ],
    },
    {
      name: 'no sandbox',
      pod: sandboxless,
      events: [noAddress],
      is: [
        'ContainerCannotRun',
        'Pod iris-a cannot be started: Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "…": plugin type="bridge" failed (add): no IP addresses available in range set',
      ],
    },
    { name: 'the sandbox is there in the meantime', pod: creating, events: [noSecret, noAddress], is: [] },
    {
      name: 'a probe that fails',
      pod: notYetReady,
      events: [noSecret, unhealthy],
      is: [
        'NotReady',
        'Pod iris-a runs, but is not ready: Readiness probe failed: HTTP probe failed with statuscode: 503',
      ],
    },
    { name: 'a probe that failed', pod: ready, events: [unhealthy], is: [] },
    { name: 'a pod that is over', pod: evicted, events: [noSecret, unhealthy], is: [] },
    { name: 'a pod that leaves', pod: toldToGo, events: [noSecret, unhealthy], is: [] },
    { name: 'a pod that leaves before it began', pod: leaving, events: [noSecret], is: [] },
    { name: 'a pod of the same name, made anew', pod: called({ uid: 'new' }), events: [noSecret], is: [] },
    { name: 'a pod of another name', pod: called({ name: 'iris-b' }), events: [anonymous], is: [] },
    { name: 'a pod in another namespace', pod: called({ namespace: 'other' }), events: [anonymous], is: [] },
    { name: 'something else of that name', pod: sandboxless, events: [claimed], is: [] },
    {
      name: 'an event without a UID',
      pod: sandboxless,
      events: [anonymous],
      is: [
        'ContainerConfigError',
        'Pod iris-a cannot be started: MountVolume.SetUp failed for volume "credentials" : secret "iris-s3" not found (create it, or name another)',
      ],
    },
    {
      name: 'two at once: by name',
      pod: sandboxless,
      events: [about('FailedMount', 'second', 5), about('FailedMapVolume', 'first', 5)],
      is: ['VolumeUnavailable', 'Pod iris-a cannot be started: first'],
    },
  ];
  for (const { name, pod, events, is } of rows)
    test(name, () => {
      for (const order of [events, events.toReversed()]) {
        const cause = podEventCause(pod, order);
        deepEqual(cause ? [cause.reason, cause.message] : [], is);
      }
    });
});
