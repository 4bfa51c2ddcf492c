// Simulated pods: each fault that an annotation can ask for, told by the status that a kubelet would have written.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { eventually } from './controlplane-waiting.ts';

interface Ended {
  exitCode: number;
  reason: string;
  message?: string;
}

interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  state: { waiting?: { reason: string; message?: string }; running?: object; terminated?: Ended };
  lastState: { terminated?: Ended };
}

interface Pod {
  metadata: { name: string };
  status: {
    phase: string;
    reason?: string;
    message?: string;
    podIP?: string;
    conditions: { type: string; status: string; reason?: string; message?: string }[];
    containerStatuses: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
}

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane({ nodes: 1 });
});
after(() => plane.stop());

const pods = '/api/v1/namespaces/default/pods';
const twoContainers = [
  { name: 'main', image: 'registry.test/main:1' },
  { name: 'side', image: 'registry.test/side:1' },
];
const withInit = {
  initContainers: [
    { name: 'first', image: 'registry.test/init:1' },
    { name: 'second', image: 'registry.test/init:2' },
  ],
};

const annotations = (notes: Record<string, string>) =>
  Object.fromEntries(Object.entries(notes).map(([name, value]) => [`sim.baton.dev/${name}`, value]));

/** Creates a pod with these notes and waits until its status is as told. */
async function podWith(notes: Record<string, string>, spec: object, right: (pod: Pod) => boolean): Promise<Pod> {
  const body = {
    metadata: { generateName: 'pod-', annotations: annotations(notes) },
    spec: { containers: twoContainers, ...spec },
  };
  const made = await plane.request({ method: 'POST', path: pods, body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return await podIs((made.body as Pod).metadata.name, right);
}

const podIs = (name: string, right: (pod: Pod) => boolean): Promise<Pod> =>
  eventually(
    async () => (await plane.request({ path: `${pods}/${name}` })).body as Pod,
    (pod) => right(pod),
  );

const container = ({ status }: Pod, name = 'main'): ContainerStatus | undefined =>
  [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].find((one) => one.name === name);
const waitingFor = (pod: Pod, name = 'main') => container(pod, name)?.state.waiting?.reason;
const condition = ({ status }: Pod, type: string) => status.conditions?.find((one) => one.type === type);
const isReady = (pod: Pod) => condition(pod, 'Ready')?.status === 'True';
const never = { restartPolicy: 'Never' };

test('a pod becomes ready, its init containers done before', async () => {
  const pod = await podWith({}, withInit, isReady);
  assert.equal(pod.status.phase, 'Running');
  assert.match(pod.status.podIP ?? '', /^10\./);
  for (const type of ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready']) {
    assert.equal(condition(pod, type)?.status, 'True', type);
  }
  assert.deepEqual(
    pod.status.initContainerStatuses?.map(({ state }) => state.terminated?.exitCode),
    [0, 0],
  );
  assert.ok(pod.status.containerStatuses.every(({ state, restartCount }) => state.running && restartCount === 0));
});

test('an image that cannot be pulled: first an error, then a back-off that names the image', async () => {
  const pod = await podWith({ fault: 'image-pull-error' }, {}, (seen) => waitingFor(seen) === 'ErrImagePull');
  assert.match(container(pod)?.state.waiting?.message ?? '', /registry\.test\/main:1: not found/);
  const later = await podIs(pod.metadata.name, (seen) => waitingFor(seen) === 'ImagePullBackOff');
  assert.match(container(later)?.state.waiting?.message ?? '', /^Back-off pulling image "registry\.test\/main:1"/);
  assert.equal(later.status.phase, 'Pending');
  assert.equal(condition(later, 'Ready')?.message, 'containers with unready status: [main]');
});

test('a missing Secret: the container is never created, and the message says why', async () => {
  const notes = { fault: 'config-error', message: 'secret "credentials" not found' };
  const pod = await podWith(notes, {}, (seen) => waitingFor(seen) === 'CreateContainerConfigError');
  assert.equal(container(pod)?.state.waiting?.message, 'secret "credentials" not found');
});

test('a crash loop: exit code and message of the last run, restarts that go up, never ready', async () => {
  const message = 'cannot open "model.onnx":\n  no such file';
  const notes = { fault: 'crash', 'exit-code': '3', message, 'restart-delay': '300ms' };
  const pod = await podWith(notes, {}, (seen) => waitingFor(seen) === 'CrashLoopBackOff');
  const { exitCode, reason, message: told } = container(pod)?.lastState.terminated ?? {};
  assert.deepEqual({ exitCode, reason, told }, { exitCode: 3, reason: 'Error', told: message });
  assert.ok((container(pod)?.restartCount ?? 0) >= 1);
  assert.equal(pod.status.phase, 'Running');
  assert.equal(isReady(pod), false);
  await podIs(pod.metadata.name, (seen) => (container(seen)?.restartCount ?? 0) >= 3);
});

test('a crash loop ends when its cause is taken away', async () => {
  const notes = { fault: 'crash', 'restart-delay': '300ms' };
  const { metadata } = await podWith(notes, {}, (seen) => waitingFor(seen) === 'CrashLoopBackOff');
  await plane.kubectl(['annotate', 'pod', metadata.name, 'sim.baton.dev/fault-']);
  await podIs(metadata.name, isReady);
});

test('out of memory: killed with 137, again and again', async () => {
  const pod = await podWith({ fault: 'oom-killed' }, {}, (seen) => waitingFor(seen) === 'CrashLoopBackOff');
  const { exitCode, reason } = container(pod)?.lastState.terminated ?? {};
  assert.deepEqual({ exitCode, reason }, { exitCode: 137, reason: 'OOMKilled' });
});

test('evicted: it ran, then failed with the reason on the pod itself', async () => {
  const pod = await podWith(
    { fault: 'evicted', message: 'low on disk' },
    {},
    ({ status }) => status.phase === 'Failed',
  );
  assert.equal(pod.status.reason, 'Evicted');
  assert.equal(pod.status.message, 'low on disk');
  assert.equal(condition(pod, 'DisruptionTarget')?.reason, 'TerminationByKubelet');
});

test('a running pod turns unready and ready again with its annotation', async () => {
  const { metadata } = await podWith({ fault: 'not-ready' }, {}, ({ status }) => status.phase === 'Running');
  const set = (change: string) => plane.kubectl(['annotate', 'pod', metadata.name, change]);
  const pod = await podIs(metadata.name, (seen) => !isReady(seen));
  assert.ok(container(pod)?.state.running);
  assert.equal(container(pod, 'side')?.ready, true);
  await set('sim.baton.dev/fault-');
  await podIs(metadata.name, isReady);
  await set('sim.baton.dev/fault=not-ready');
  await podIs(metadata.name, (seen) => !isReady(seen));
});

test('slow to start, then slow to become ready', async () => {
  const notes = { 'start-delay': '1s', 'ready-delay': '1s' };
  const pod = await podWith(notes, {}, (seen) => waitingFor(seen) === 'ContainerCreating');
  assert.equal(pod.status.phase, 'Pending');
  await podIs(pod.metadata.name, (seen) => seen.status.phase === 'Running' && !isReady(seen));
  await podIs(pod.metadata.name, isReady);
});

test('a deleted pod is gone at once, or stays for a while if it is to be slow', async () => {
  const quick = await podWith({}, {}, isReady);
  const slow = await podWith({ 'stop-delay': '1s' }, {}, isReady);
  const remove = ({ metadata }: Pod) => plane.request({ method: 'DELETE', path: `${pods}/${metadata.name}` });
  await Promise.all([remove(quick), remove(slow)]);
  const statusOf = async ({ metadata }: Pod) => (await plane.request({ path: `${pods}/${metadata.name}` })).status;
  await eventually(
    () => statusOf(quick),
    (status) => status === 404,
  );
  assert.equal(await statusOf(slow), 200);
  await eventually(
    () => statusOf(slow),
    (status) => status === 404,
  );
});

test('a pod that ends well leaves its termination message', async () => {
  const notes = { message: '{"digest":"sha256:1"}' };
  const pod = await podWith(notes, never, ({ status }) => status.phase === 'Succeeded');
  const { exitCode, reason, message } = container(pod)?.state.terminated ?? {};
  assert.deepEqual(
    { exitCode, reason, message },
    { exitCode: 0, reason: 'Completed', message: '{"digest":"sha256:1"}' },
  );
  assert.equal(condition(pod, 'Ready')?.reason, 'PodCompleted');
});

test('a pod that ends badly leaves its exit code, on the container concerned only', async () => {
  const notes = { 'exit-code': '42', container: 'side' };
  const pod = await podWith(notes, never, ({ status }) => status.phase === 'Failed');
  assert.equal(container(pod, 'side')?.state.terminated?.exitCode, 42);
  assert.equal(container(pod, 'main')?.state.terminated?.exitCode, 0);
  assert.equal(condition(pod, 'Ready')?.reason, 'PodFailed');
});

test('a fault of an init container holds the pod up', async () => {
  const notes = { fault: 'crash', container: 'second' };
  const pod = await podWith(notes, withInit, (seen) => waitingFor(seen, 'second') === 'CrashLoopBackOff');
  assert.equal(pod.status.phase, 'Pending');
  assert.equal(container(pod, 'first')?.state.terminated?.exitCode, 0);
  assert.equal(waitingFor(pod, 'main'), 'PodInitializing');
  assert.equal(condition(pod, 'Initialized')?.message, 'containers with incomplete status: [second]');
});

test('a pod that fits on no node is unschedulable, by the word of the real scheduler', async () => {
  const greedy = [{ name: 'main', image: 'x', resources: { requests: { cpu: '1000' } } }];
  const pod = await podWith({}, { containers: greedy }, (seen) => condition(seen, 'PodScheduled')?.status === 'False');
  assert.equal(condition(pod, 'PodScheduled')?.reason, 'Unschedulable');
  assert.match(condition(pod, 'PodScheduled')?.message ?? '', /Insufficient cpu/);
});

/** Somebody who reads along: what has come so far, and how it ends. */
function follow(pod: string) {
  const args = ['--kubeconfig', plane.kubeconfigPath, 'logs', pod, '-c', 'main', '--follow'];
  const kubectl = spawn(plane.kubectlPath, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 30_000 });
  let heard = '';
  kubectl.stdout.on('data', (text: Buffer) => (heard += text.toString()));
  return { heard: () => heard, ended: once(kubectl, 'close') };
}

test('logs: the tail, a container of its own, a growing text, and a refusal before the start', async () => {
  const notes = { logs: 'one\ntwo\nthree', 'logs.side': 'other' };
  const { metadata } = await podWith(notes, {}, isReady);
  const logs = async (...args: string[]) => (await plane.kubectl(['logs', metadata.name, ...args])).stdout;
  assert.equal(await logs('-c', 'main'), 'one\ntwo\nthree\n');
  assert.equal(await logs('-c', 'main', '--tail=1'), 'three\n');
  assert.equal(await logs('-c', 'side'), 'other\n');
  const follower = follow(metadata.name);
  await eventually(follower.heard, (text) => text === 'one\ntwo\nthree\n');
  await plane.kubectl(['annotate', '--overwrite', 'pod', metadata.name, 'sim.baton.dev/logs=one\ntwo\nthree\nfour']);
  await eventually(follower.heard, (text) => text === 'one\ntwo\nthree\nfour\n');
  await plane.kubectl(['delete', 'pod', metadata.name]);
  assert.deepEqual(await follower.ended, [0, null]);
  const blocked = await podWith({ fault: 'config-error' }, {}, (pod) => waitingFor(pod) !== undefined);
  const refused = await plane.kubectl(['logs', blocked.metadata.name, '-c', 'main']);
  assert.match(refused.stderr, /is waiting to start: CreateContainerConfigError/);
});
