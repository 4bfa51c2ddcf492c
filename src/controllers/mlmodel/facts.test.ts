// When a fact from outside the cache is needed, about which object, and what it says then.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aModel,
  claim,
  deployment,
  downloadPod,
  inspection,
  inspectPod,
  job,
  leaving,
  revision,
  serverPod,
  storageClass,
} from '../../../tests/kit/mlmodel.ts';
import { look, noFacts } from '../../../tests/kit/plans.ts';
import { foreign, seen } from '../../../tests/kit/world.ts';
import { conditionOf, type Deployment, type KubeEvent, type KubeObject, type Pod } from '../../objects/index.ts';
import { claimEvents, endedPods, jobEvents, podEvents, progress } from './facts.ts';

const model = aModel();
const other = aModel({ modelURL: 'https://models.example/iris-2.onnx' });
const secret = aModel({ credentials: 'token' });

const waiting = (of = secret): Pod => {
  const pod = downloadPod(of);
  const metadata = { ...pod.metadata, uid: 'uid-pod' };
  return { ...pod, metadata, spec: { ...pod.spec, nodeName: 'node-1' }, status: { phase: 'Pending' } };
};

const event = (about: KubeObject, reason: string, message: string): KubeEvent => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'one' },
  type: 'Warning',
  reason,
  message,
  involvedObject: { apiVersion: 'v1', kind: about.kind, name: about.metadata.name, uid: about.metadata.uid ?? '' },
});

describe('the progress of a download', () => {
  test('is read from the pod that runs for what is asked', () => {
    const world = seen(revision(model), claim(model), job(model), downloadPod(model), downloadPod(other));
    deepEqual(progress.inputs(model, world), { namespace: 'shop', pod: downloadPod(model).metadata.name });
  });

  test('is not read from one that leaves, has ended, or has not begun', () => {
    const done = downloadPod(model, { result: 'done', digest: 'sha256:0', bytes: 1 });
    for (const pod of [leaving(downloadPod(model)), done, waiting(model)])
      equal(progress.inputs(model, seen(pod)), undefined);
  });

  test('is not read from a look at an image, which has none', () => {
    const image = aModel({ modelURL: 'oci://registry.example/iris:1', imagePullSecrets: [{ name: 'pull' }] });
    equal(progress.inputs(image, seen(inspection(image), inspectPod(image))), undefined);
  });

  test('is told with a part of the whole, if the whole is known', () => {
    const told = (value: { bytes: number; total?: number }) => {
      const world = seen(revision(model), claim(model), job(model), downloadPod(model));
      return look(model, world, { facts: { ...noFacts, progress: { state: 'known', value } } }).status.download;
    };
    deepEqual(told({ bytes: 1, total: 3 }), { bytes: 1, total: 3, percent: 33 });
    deepEqual(told({ bytes: 7 }), { bytes: 7 });
    deepEqual(told({ bytes: 0, total: 0 }), { bytes: 0, total: 0 });
  });
});

describe('the events of a claim', () => {
  const pending = claim(model, { phase: 'Pending' });

  test('are asked for while it waits', () => {
    deepEqual(claimEvents.inputs(model, seen(pending)), { namespace: '', uid: '' });
    equal(claimEvents.inputs(model, seen(claim(model))), undefined);
    equal(claimEvents.inputs(model, seen()), undefined);
  });

  test('tell why it waits, as the message and as a condition', () => {
    const inFast = aModel({ storageClassName: 'fast' });
    const held = claim(inFast, { phase: 'Pending' });
    const facts = {
      ...noFacts,
      claimEvents: { state: 'known' as const, value: [event(held, 'ProvisioningFailed', 'the backend has no space')] },
    };
    const { status } = look(inFast, seen(revision(inFast), held, foreign(storageClass('fast'))), { facts });
    match(status.message ?? '', /the backend has no space/);
    match(conditionOf(status, 'StorageReady')?.message ?? '', /the backend has no space/);
  });
});

describe('the events of a download', () => {
  test('are asked for while it has its node and does not start', () => {
    deepEqual(podEvents.inputs(secret, seen(job(secret), waiting())), { namespace: 'shop', uid: 'uid-pod' });
    deepEqual(podEvents.inputs(model, seen(job(model), waiting(model))), { namespace: 'shop', uid: 'uid-pod' });
    equal(podEvents.inputs(secret, seen(job(secret), downloadPod(secret))), undefined);
    const unplaced: Pod = { ...waiting(), spec: downloadPod(secret).spec };
    equal(podEvents.inputs(secret, seen(job(secret), unplaced)), undefined);
  });

  test('name the Secret that is missing', () => {
    const pod = waiting();
    const missing = event(
      pod,
      'FailedMount',
      'MountVolume.SetUp failed for volume "credentials" : secret "token" not found',
    );
    const facts = { ...noFacts, podEvents: { state: 'known' as const, value: [missing] } };
    const { status } = look(secret, seen(revision(secret), claim(secret), job(secret), pod), { facts });
    match(status.message ?? '', /secret "token" not found \(create it, or name another\)/);
    equal(conditionOf(status, 'Ready')?.reason, 'ContainerConfigError');
  });
});

describe('the events of a download without credentials', () => {
  const kept: [reason: string, words: string, told: string][] = [
    ['FailedAttachVolume', 'AttachVolume.Attach failed for volume "pvc-1" : rpc error', 'VolumeUnavailable'],
    ['FailedMount', 'MountVolume.MountDevice failed for volume "pvc-1" : wrong fs type', 'VolumeUnavailable'],
    ['FailedCreatePodSandBox', 'Failed to create pod sandbox: no IP addresses', 'ContainerCannotRun'],
  ];
  for (const [reason, words, told] of kept)
    test(`tell what keeps it: ${reason}`, () => {
      const pod = waiting(model);
      const world = seen(revision(model), claim(model), job(model), pod);
      deepEqual(podEvents.inputs(model, world), { namespace: 'shop', uid: pod.metadata.uid });
      const facts = { ...noFacts, podEvents: { state: 'known' as const, value: [event(pod, reason, words)] } };
      const { status } = look(model, world, { facts });
      equal(conditionOf(status, 'Ready')?.reason, told);
      ok(status.message?.includes(words), status.message);
    });
});

describe('the events of a Job', () => {
  test('are asked for while it has made no pod', () => {
    const { uid } = job(model).metadata;
    deepEqual(jobEvents.inputs(model, seen(claim(model), job(model))), { namespace: '', uid });
    equal(jobEvents.inputs(model, seen(claim(model), job(model), downloadPod(model))), undefined);
    equal(jobEvents.inputs(model, seen(claim(model), job(model, 'Failed'))), undefined);
    equal(jobEvents.inputs(model, seen(claim(model))), undefined);
  });

  test('tell who refuses its pod, and that is for a person to mend', () => {
    const words = 'Error creating: pods "x-1" is forbidden: exceeded quota: small, requested: pods=1, limited: pods=0';
    const facts = {
      ...noFacts,
      jobEvents: { state: 'known' as const, value: [event(job(model), 'FailedCreate', words)] },
    };
    const { status } = look(model, seen(revision(model), claim(model), job(model)), { facts });
    match(status.message ?? '', /cannot make a pod: exceeded quota: small, .* \(raise the quota, or ask for less\)/);
    equal(conditionOf(status, 'Stalled')?.status, 'True');
    equal(conditionOf(status, 'Downloaded')?.reason, 'QuotaExceeded');
  });
});

describe('the pods of a Job that has ended', () => {
  const done = downloadPod(model, { result: 'done', digest: 'sha256:0', bytes: 1 });
  const ended = [revision(model), claim(model), job(model, 'Complete')];

  /** What becomes of it once the server was asked for its pods. */
  const phaseWith = (value: Pod[], ...late: Pod[]) => {
    const facts = { ...noFacts, endedPods: { state: 'known' as const, value } };
    const { want, status } = look(model, seen(...ended, ...late), { facts });
    return { phase: status.phase, reason: conditionOf(status, 'Ready')?.reason, wantsJob: want.some(isOfJob) };
  };
  const isOfJob = (desired: object) => Object.values(desired).some((child: KubeObject) => child.kind === 'Job');

  test('are asked for where the cache has none that succeeded', () => {
    const { uid } = job(model).metadata;
    deepEqual(endedPods.inputs(model, seen(...ended)), { namespace: '', uid });
    deepEqual(endedPods.inputs(model, seen(...ended, downloadPod(model))), { namespace: '', uid });
    equal(endedPods.inputs(model, seen(...ended, done)), undefined);
    equal(endedPods.inputs(model, seen(claim(model), job(model))), undefined);
    equal(endedPods.inputs(model, seen(claim(model))), undefined);
  });

  test('are waited for, and their Job with them', () => {
    const { want, status } = look(model, seen(...ended, downloadPod(model)));
    equal(status.phase, 'Downloading');
    equal(want.some(isOfJob), true);
  });

  test('say what was fetched, though the cache still shows them at work', () => {
    for (const late of [[], [downloadPod(model)]]) equal(phaseWith([done], ...late).phase, 'Serving');
  });

  test('are gone: the download must say it again', () => {
    deepEqual(phaseWith([]), { phase: 'Downloading', reason: 'Downloading', wantsJob: false });
  });

  test('said nothing: that is told', () => {
    equal(phaseWith([{ ...done, status: { phase: 'Succeeded' } }]).reason, 'NoResult');
  });
});

describe('the events of a server', () => {
  const pod = serverPod(model, { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] });
  const placed = { ...pod, metadata: { ...pod.metadata, uid: 'uid-pod' }, spec: { ...pod.spec, nodeName: 'node-1' } };
  const running = (of: typeof model, reason: string): Deployment => {
    const object = deployment(of, 0);
    const conditions = [{ type: 'Progressing', status: 'True' as const, reason, message: '' }];
    return { ...object, status: { ...object.status, conditions } };
  };
  const asked = (reason: string, server: Pod = placed, of = model) =>
    podEvents.inputs(of, seen(revision(of), running(of, reason), server));

  test('are not asked for while a takeover is young, and when it has a node no more', () => {
    equal(asked('ReplicaSetUpdated'), undefined);
    equal(asked('ProgressDeadlineExceeded', pod), undefined);
    equal(asked('ProgressDeadlineExceeded', leaving(placed)), undefined);
    equal(asked('ProgressDeadlineExceeded', serverPod(model)), undefined);
  });

  test('are asked for when it takes too long, came after others, or has a volume of somebody else', () => {
    deepEqual(asked('ProgressDeadlineExceeded'), { namespace: 'shop', uid: 'uid-pod' });
    deepEqual(asked('NewReplicaSetAvailable'), { namespace: 'shop', uid: 'uid-pod' });
    const shelf = aModel({ modelURL: 'pvc://shelf' });
    const own = { ...placed, metadata: { ...placed.metadata, labels: serverPod(shelf).metadata.labels ?? {} } };
    deepEqual(asked('ReplicaSetUpdated', own, shelf), { namespace: 'shop', uid: 'uid-pod' });
  });

  test('tell what keeps it', () => {
    const words = 'Multi-Attach error for volume "pvc-1": Volume is already used by pod(s) other';
    const value = [event(placed, 'FailedAttachVolume', words)];
    const facts = { ...noFacts, podEvents: { state: 'known' as const, value } };
    const world = seen(
      revision(model),
      claim(model, { digest: 'sha256:0' }),
      running(model, 'NewReplicaSetAvailable'),
      placed,
    );
    const { status } = look(model, world, { facts });
    equal(conditionOf(status, 'Ready')?.reason, 'VolumeUnavailable');
    match(status.message ?? '', /Multi-Attach error/);
  });
});
