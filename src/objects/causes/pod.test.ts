import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Pod, podCause } from '../index.ts';
import * as ended from './fixtures/ended.ts';
import { aJobPod, aPod, unready, waiting } from './fixtures/parts.ts';
import * as starting from './fixtures/starting.ts';

const { crashLoop } = ended;

describe('every word of a kubelet is known', () => {
  const waits = (reason: string, words = 'words') => aPod('iris-a', unready([waiting('server', reason, words)]));
  const failed = (reason: string) => aPod('iris-a', { phase: 'Failed', reason, message: 'words' });
  const rows: Record<string, readonly Pod[]> = {
    ImageUnavailable: [
      'ErrImagePull',
      'ImagePullBackOff',
      'ErrImageNeverPull',
      'InvalidImageName',
      'ImageInspectError',
      'RegistryUnavailable',
      'SignatureValidationFailed',
    ].map((reason) => waits(reason)),
    ContainerCannotRun: [
      'CreateContainerError',
      'RunContainerError',
      'PreCreateHookError',
      'PreStartHookError',
      'PostStartHookError',
    ].map((reason) => waits(reason)),
    Evicted: ['Evicted', 'Preempting'].map(failed),
    NodeLost: ['NodeLost', 'NodeShutdown', 'Terminated'].map(failed),
  };
  for (const [reason, pods] of Object.entries(rows))
    test(reason, () => deepEqual(new Set(pods.map((pod) => podCause(pod)?.reason)), new Set([reason])));

  const advised: [words: string, pod: (words: string) => Pod, advice: string][] = [
    [
      'x509: certificate signed by unknown authority',
      (words) => waits('ErrImagePull', words),
      'the node does not trust',
    ],
    [
      'write /var/lib: no space left on device',
      (words) => waits('ErrImagePull', words),
      'the disk of the node is full',
    ],
    ['exec: "/app": permission denied', (words) => waits('RunContainerError', words), 'its command is not executable'],
    ['3 node(s) had volume node affinity conflict', starting.unplaced, 'its volume lives where it may not run'],
    ['3 node(s) had untolerated taint {gpu: }', starting.unplaced, 'add a toleration'],
    ["1 node(s) didn't match Pod's node affinity/selector", starting.unplaced, 'check nodeSelector'],
    [
      "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod affinity rules",
      starting.unplaced,
      'it must run on the node of the pods that share its volume',
    ],
  ];
  for (const [words, pod, advice] of advised)
    test(`${words}: ${advice}`, () => ok(podCause(pod(words))?.message.includes(`${words} (${advice}`)));
});

describe('no cause', () => {
  const rows: Record<string, Pod> = {
    'a container that is being created': starting.creating,
    'init containers that have not begun': starting.initializing,
    'a pod that is held back on purpose': starting.gated,
    'a pod that is ready': ended.ready,
    'a pod that is not ready yet': ended.notYetReady,
    'a pod whose startup probe has not succeeded yet': ended.notYetStarted,
    'a crash long ago, ready since': ended.recovered,
    'a crash long ago, ready afterwards, not ready now': ended.unreadyAfterRecovery,
    'a reboot of the node': ended.rebooted,
    'a reboot of the node, just seen': ended.rebooting,
    'a pod that is done': ended.jobPodDone,
    'a pod that is done although a child of it ran out of memory': ended.jobPodCoped,
    'a pod that runs to its end': ended.jobPodRunning,
    'a pod that ends because it was told to': ended.toldToGo,
    'a crash loop that is being removed': ended.crashLoopLeaving,
    'a server that came back once after it left': ended.leftOnce,
    'an init container that runs again after the sandbox was lost': aPod('iris-a', unready([], [ended.returned(3)])),
    'a task that left and came back': aJobPod('fetch-1', unready([ended.returned(3)]), { restartPolicy: 'OnFailure' }),
    'a pod that nobody has looked at': aPod('iris-a', {}),
  };
  for (const [name, pod] of Object.entries(rows)) test(name, () => equal(podCause(pod), undefined));
});

describe('the words stay the same', () => {
  const loops = { crash: ended.crash, silence: ended.silentCrash, memory: ended.outOfMemory, heap: ended.segfault };
  const rows: Record<string, Pod[]> = {
    'through both turns of a start that fails': [starting.commandMissing, starting.commandMissingBackOff],
    'through both turns of a pull that fails': [starting.imageMissing, starting.imageMissingBackOff],
    'whatever port the node used': [41873, 52001].map(starting.imageNoName),
    'whatever time it is': ['2026-11-04T09:12:44Z', '2026-11-05T10:00:00Z'].map(starting.imageCertificateExpired),
    'whatever id a container had': ['ab', 'cd'].map((id) => starting.nameReserved(id.repeat(32))),
    ...Object.fromEntries(
      Object.entries(loops).map(([name, end]) => [
        `through all turns of a crash loop: ${name}`,
        [crashLoop(end), ended.crashedNow(end), ended.crashedBefore(end)],
      ]),
    ),
  };
  for (const [name, [first, ...others]] of Object.entries(rows))
    test(name, () => {
      const cause = first && podCause(first);
      ok(cause);
      for (const other of others) deepEqual(podCause(other), cause);
    });
});
