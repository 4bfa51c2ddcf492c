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
    { name: 'another pod', pod: { ...sandboxless, metadata: { name: 'iris-b' } }, events: [noSecret], is: [] },
  ];
  for (const { name, pod, events, is } of rows)
    test(name, () => {
      for (const order of [events, events.toReversed()]) {
        const cause = podEventCause(pod, order);
        deepEqual(cause ? [cause.reason, cause.message] : [], is);
      }
    });
});
