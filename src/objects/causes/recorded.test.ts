// What a real kubelet, scheduler, runtime and control plane said, as tests/node/causes.test.ts recorded it: in every turn the
// judges find the cause or nothing, and never another one.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Job, type KubeEvent, type PersistentVolumeClaim } from '../builtin.ts';
import { type Pod } from '../pod.ts';
import { type Cause } from './cause.ts';
import { claimCause, unboundCause } from './claim.ts';
import { evictionCause, podEventCause, probeCause } from './events.ts';
import { jobCause } from './job.ts';
import { podCause, unreadyCause } from './pods.ts';

interface Recorded {
  pods: Pod[];
  claims: PersistentVolumeClaim[];
  jobs: Job[];
  events: KubeEvent[];
}

const folder = join(import.meta.dirname, 'fixtures/recorded');
const recorded = (name: string): Recorded =>
  JSON.parse(readFileSync(join(folder, `${name}.gen.json`), 'utf8')) as Recorded;

const ofPods = ({ pods }: Recorded) => pods.map((pod) => podCause(pod));

/** Who judges, the reason, the words, and in how many turns at least. */
type Row = [judge: (seen: Recorded) => (Cause | undefined)[], reason: string, words: RegExp, turns: number];

const rows: Record<string, Row> = {
  unschedulable: [ofPods, 'Unschedulable', /: 0\/1 nodes are available: 1 Insufficient cpu.*\(add capacity/, 1],
  'crash-loop': [ofPods, 'CrashLooping', /keeps crashing with exit code 3: cannot open model\.onnx$/, 3],
  'crash-message': [ofPods, 'CrashLooping', /exit code 7: the weights are of another version$/, 1],
  'out-of-memory': [ofPods, 'OutOfMemory', /exit code 137 SIGKILL: it needs more than its limit of 50Mi \(raise/, 1],
  'illegal-instruction': [ofPods, 'UnsupportedCPU', /exit code 132 SIGILL: .*AVX/, 1],
  evicted: [
    ({ pods, events }) => pods.flatMap((pod) => (podCause(pod) ? [evictionCause(pod, events)] : [])),
    'Evicted',
    /was evicted from node node-1: .*ephemeral.*4Mi.*\(raise that limit\)$/,
    1,
  ],
  'command-missing': [ofPods, 'ContainerCannotRun', /"\/no\/such\/program".*no such file.*\(check its command/, 1],
  'image-missing': [ofPods, 'ImageUnavailable', /servers\/nothing:1: not found \(check the name and the tag/, 2],
  'image-private': [ofPods, 'ImageUnavailable', /imagePullSecrets\)$/, 1],
  'image-no-tls': [ofPods, 'ImageUnavailable', /HTTP response to HTTPS client \(the registry answers without TLS/, 1],
  'image-no-registry': [ofPods, 'ImageUnavailable', /connection refused \(the node cannot reach the registry\)$/, 1],
  'image-other-platform': [ofPods, 'UnsupportedCPU', /no match for platform.*\(the image is not built for/, 1],
  'other-architecture': [ofPods, 'UnsupportedCPU', /exec format error \(it is built for another architecture/, 1],
  'image-invalid': [ofPods, 'ImageUnavailable', /must be lowercase \(correct the name of the image\)$/, 1],
  'secret-missing': [ofPods, 'ContainerConfigError', /: secret "token" not found \(create it, or name another\)$/, 1],
  'secret-key-missing': [ofPods, 'ContainerConfigError', /find key key in Secret default\/token \(add that key/, 1],
  'not-ready': [({ pods }) => pods.map((pod) => unreadyCause([pod])), 'NotReady', /readiness probe does not/, 1],
  'not-started': [
    ({ pods, events }) => pods.slice(-1).map((pod) => probeCause(pod, events)),
    'NotReady',
    /Startup probe failed: HTTP probe failed with statuscode: 404 \(it is ended and started again for that\)$/,
    1,
  ],
  'download-unschedulable': [ofPods, 'Unschedulable', /node affinity\/selector.*\(check nodeSelector/, 1],
  'download-secret-missing': [
    ({ pods, events }) => pods.filter(({ spec }) => spec.nodeName).map((pod) => podEventCause(pod, events)),
    'ContainerConfigError',
    /: MountVolume\.SetUp failed .*: secret "nobody" not found \(create it, or name another\)$/,
    1,
  ],
  'claim-no-class': [
    ({ claims, events }) => claims.map((claim) => claimCause(claim, events)),
    'ClaimPending',
    /storageclass\.storage\.k8s\.io "nowhere" not found \(create that class/,
    1,
  ],
  'claim-no-provisioner': [
    ({ claims, events }) => claims.map((claim) => unboundCause(claim, events)),
    'ClaimPending',
    /external provisioner 'disks\.example\.com'/i,
    1,
  ],
  'download-verdict': [lastJob, 'ContainerFailed', /failed with exit code 42: .*"verdict":"SourceNotFound"/, 1],
  'download-storage-full': [lastJob, 'ContainerFailed', /failed with exit code 42: .*"verdict":"StorageFull"/, 1],
  'download-fault': [ofPods, 'ContainerFailed', /failed with exit code 1: .*"result":"fault"/, 1],
};

function lastJob({ jobs, pods }: Recorded): (Cause | undefined)[] {
  return jobs.slice(-1).map((job) => jobCause(job, pods.slice(-1)));
}

describe('what a real node said', () => {
  for (const [name, [judge, reason, words, turns]] of Object.entries(rows))
    test(name, () => {
      const causes = judge(recorded(name)).filter((cause) => cause !== undefined);
      ok(causes.length >= turns, `it is found in ${causes.length} turns`);
      deepEqual([...new Set(causes.map((cause) => cause.reason))], [reason]);
      for (const { message } of causes) match(message, words);
      equal(new Set(causes.map(({ message }) => message)).size, 1, 'the words stay the same');
    });

  test('is judged in full', () => {
    const files = readdirSync(folder).map((file) => file.replace('.gen.json', ''));
    deepEqual(files.toSorted(), Object.keys(rows).toSorted());
  });
});
