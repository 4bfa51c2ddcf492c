import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Pod, podCause } from '../index.ts';
import * as ended from './fixtures/ended.ts';
import { aPod } from './fixtures/parts.ts';
import * as starting from './fixtures/starting.ts';

const { crashLoop } = ended;
const image = 'registry.example.com/servers/onnx:1.4.0';
const server = 'Pod iris-a, container "server"';
const notFound = `failed to pull and unpack image "${image}": failed to resolve image: ${image}: not found (check the name and the tag of the image)`;
const otherCPU =
  '(it needs CPU features that node worker-1 lacks, often AVX: choose nodes by nodeSelector, or another image)';

interface Row {
  name: string;
  pod: Pod;
  reason: string;
  says: string;
  exitCode?: number;
}

function table(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const { name, pod, reason, says, exitCode } of rows)
      test(name, () => {
        const cause = podCause(pod);
        deepEqual([cause?.reason, cause?.exitCode, cause?.message], [reason, exitCode, says]);
        equal(cause?.object, `Pod ${pod.metadata.name}`);
      });
  });
}

table('a pod without a node', [
  {
    name: 'no node has the device it asks for',
    pod: starting.noGPU,
    reason: 'Unschedulable',
    says: 'Pod iris-a cannot be scheduled: 0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod (add capacity, or ask for less)',
  },
  {
    name: 'no node has its labels',
    pod: starting.noSuchNode,
    reason: 'Unschedulable',
    says: "Pod iris-a cannot be scheduled: 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling (check nodeSelector against the labels of the nodes)",
  },
  {
    name: 'its claim is not bound',
    pod: starting.unboundClaim,
    reason: 'Unschedulable',
    says: 'Pod iris-a cannot be scheduled: 0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling (look at its claim)',
  },
  {
    name: 'the node that was chosen refuses it',
    pod: ended.noDevice,
    reason: 'Unschedulable',
    says: 'Pod iris-a was refused by node worker-1: UnexpectedAdmissionError: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected',
  },
]);

table('a pod without an image', [
  {
    name: 'no such tag',
    pod: starting.imageMissing,
    reason: 'ImageUnavailable',
    says: `${server} cannot get an image: ${notFound}`,
  },
  {
    name: 'no such tag, while the kubelet waits',
    pod: starting.imageMissingBackOff,
    reason: 'ImageUnavailable',
    says: `${server} cannot get an image: ${notFound}`,
  },
  {
    name: 'the kubelet waits and has forgotten why',
    pod: starting.imageBackOffBare,
    reason: 'ImageUnavailable',
    says: `${server} cannot get the image ${image}: no reason is given`,
  },
  {
    name: 'a private image without a secret',
    pod: starting.imagePrivate,
    reason: 'ImageUnavailable',
    says: `${server} cannot get an image: failed to pull and unpack image "${image}": failed to resolve image: failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://auth.example.com/token?scope=repository%3Aservers%2Fonnx%3Apull&service=registry: 401 Unauthorized (check the name of the image, or name a Secret for its registry in imagePullSecrets)`,
  },
  {
    name: 'no build for the architecture',
    pod: starting.imageOtherPlatform,
    reason: 'ImageUnavailable',
    says: `${server} cannot get an image: failed to pull and unpack image "${image}": no match for platform in manifest: not found (the image has no build for the architecture of this node)`,
  },
  {
    name: 'the registry cannot be reached',
    pod: starting.imageNoName(41873),
    reason: 'ImageUnavailable',
    says: `${server} cannot get an image: failed to pull and unpack image "${image}": failed to resolve image: failed to do request: Head "https://registry.example.com/v2/servers/onnx/manifests/1.4.0": dial tcp: lookup registry.example.com on 10.0.0.2:53: read udp 10.0.1.7->10.0.0.2:53: i/o timeout (the node cannot reach the registry)`,
  },
  {
    name: 'not a name at all',
    pod: starting.imageInvalid,
    reason: 'ImageUnavailable',
    says: `${server} cannot get the image ${image}: Failed to apply default image tag "Registry.example.com/Servers/ONNX": couldn't parse image name "Registry.example.com/Servers/ONNX": invalid reference format: repository name (Servers/ONNX) must be lowercase (correct the name of the image)`,
  },
  {
    name: 'not on the node and never to be pulled',
    pod: starting.imageNeverPulled,
    reason: 'ImageUnavailable',
    says: `${server} cannot get an image: Container image "${image}" is not present with pull policy of Never`,
  },
  {
    name: 'not signed',
    pod: starting.imageUnsigned,
    reason: 'ImageUnavailable',
    says: `${server} cannot get an image: image pull failed for ${image} because the signature validation failed: Source image rejected: A signature was required, but no signature exists (the image must be signed)`,
  },
  {
    name: 'the image of a volume',
    pod: starting.volumeImageMissing,
    reason: 'ImageUnavailable',
    says: `${server} cannot get an image: failed to pull and unpack image "registry.example.com/models/iris:7": failed to resolve image: registry.example.com/models/iris:7: not found (check the name and the tag of the image)`,
  },
  {
    name: 'of an init container',
    pod: starting.initImageMissing,
    reason: 'ImageUnavailable',
    says: `Pod iris-a, container "fetch" cannot get an image: ${notFound}`,
  },
]);

const noCommand = `${server} cannot be started: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "serve": executable file not found in $PATH (check its command against the image)`;

table('a container that cannot be started', [
  {
    name: 'its Secret is missing',
    pod: starting.secretMissing,
    reason: 'ContainerConfigError',
    says: `${server} cannot be set up: secret "iris-token" not found (create it, or name another)`,
  },
  {
    name: 'a key of its Secret is missing',
    pod: starting.secretKeyMissing,
    reason: 'ContainerConfigError',
    says: `${server} cannot be set up: couldn't find key token in Secret default/iris-token (add that key, or name another)`,
  },
  {
    name: 'its image wants to be root',
    pod: starting.rootImage,
    reason: 'ContainerConfigError',
    says: `${server} cannot be set up: container has runAsNonRoot and image will run as root (pod: "iris-a_default(d5a7a1f6-2c5e-4f0b-9b41-6a1f0c3a7e11)", container: server) (use an image with a numeric user that is not root)`,
  },
  {
    name: 'its name is taken by an earlier try',
    pod: starting.nameReserved('ab'.repeat(32)),
    reason: 'ContainerCannotRun',
    says: `${server} cannot be started: failed to reserve container name "server_iris-a_default_d5a7a1f6-2c5e-4f0b-9b41-6a1f0c3a7e11_0": name "server_iris-a_default_d5a7a1f6-2c5e-4f0b-9b41-6a1f0c3a7e11_0" is reserved for "…"`,
  },
  {
    name: 'its command is not in the image',
    pod: starting.commandMissing,
    reason: 'ContainerCannotRun',
    says: noCommand,
    exitCode: 128,
  },
  {
    name: 'its command is not in the image, while the kubelet waits',
    pod: starting.commandMissingBackOff,
    reason: 'ContainerCannotRun',
    says: noCommand,
    exitCode: 128,
  },
]);

const parsing =
  'onnxruntime.capi.onnxruntime_pybind11_state.InvalidProtobuf: [ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Load model from /weights/model.onnx failed:Protobuf parsing failed';

table('a container that ended', [
  {
    name: 'with an exception',
    pod: crashLoop(ended.crash),
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 1: ${parsing}`,
    exitCode: 1,
  },
  {
    name: 'without a word',
    pod: crashLoop(ended.silentCrash),
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 1: no reason is given (kubectl logs iris-a -c server --previous may tell more)`,
    exitCode: 1,
  },
  {
    name: 'for lack of memory',
    pod: crashLoop(ended.outOfMemory),
    reason: 'OutOfMemory',
    says: `${server} was killed for lack of memory, exit code 137 SIGKILL: it needs more than its limit of 2Gi (raise resources.limits.memory)`,
    exitCode: 137,
  },
  {
    name: 'for lack of memory, without a limit of its own',
    pod: { ...crashLoop(ended.outOfMemory), spec: { containers: [{ name: 'server', image }], nodeName: 'worker-1' } },
    reason: 'OutOfMemory',
    says: `${server} was killed for lack of memory, exit code 137 SIGKILL: node worker-1 ran out of memory (set resources.requests.memory and resources.limits.memory)`,
    exitCode: 137,
  },
  {
    name: 'killed, but not for its memory',
    pod: crashLoop(ended.killed),
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 137 SIGKILL: E server.go:42] shutting down (killed from outside: look at its liveness probe and the memory of its node)`,
    exitCode: 137,
  },
  {
    name: 'with a broken heap and colours',
    pod: crashLoop(ended.segfault),
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 139 SIGSEGV: malloc(): corrupted top size`,
    exitCode: 139,
  },
  {
    name: 'a server that leaves in peace',
    pod: crashLoop(ended.leftByItself),
    reason: 'CrashLooping',
    says: `${server} keeps ending with exit code 0: {"level":"info","msg":"no model, leaving"} (it ended although it should go on running)`,
    exitCode: 0,
  },
  {
    name: 'on a CPU that is too old, below a shell',
    pod: crashLoop(ended.illegalInstruction),
    reason: 'UnsupportedCPU',
    says: `${server} met an instruction that its CPU does not know, exit code 132 SIGILL: /usr/bin/entrypoint.sh: line 3: 6 Illegal instruction (core dumped) model_server --port=8500 "$@" ${otherCPU}`,
    exitCode: 132,
  },
  {
    name: 'on a CPU that is too old, without a word',
    pod: crashLoop(ended.illegalInstructionSilent),
    reason: 'UnsupportedCPU',
    says: `${server} met an instruction that its CPU does not know, exit code 132 SIGILL: Illegal instruction ${otherCPU}`,
    exitCode: 132,
  },
  {
    name: 'on another architecture',
    pod: crashLoop(ended.otherArchitecture),
    reason: 'UnsupportedCPU',
    says: `${server} cannot run: exec /usr/local/bin/serve: exec format error (it is built for another architecture than that of node worker-1: choose nodes by nodeSelector, or another image)`,
    exitCode: 255,
  },
  {
    name: 'an init container',
    pod: ended.initCrash,
    reason: 'CrashLooping',
    says: 'Pod iris-a, container "fetch" keeps crashing with exit code 2: fetch: no such bucket',
    exitCode: 2,
  },
  {
    name: 'in a pod that does not start again',
    pod: ended.jobPodFailed,
    reason: 'ContainerFailed',
    says: `Pod fetch-1, container "download" failed with exit code 1: ${parsing}`,
    exitCode: 1,
  },
  {
    name: 'first, and drew a sidecar along',
    pod: ended.jobPodWithSidecar,
    reason: 'ContainerFailed',
    says: `Pod fetch-1, container "download" failed with exit code 1: ${parsing}`,
    exitCode: 1,
  },
  {
    name: 'for lack of memory, in a pod that does not start again',
    pod: ended.jobPodOutOfMemory,
    reason: 'OutOfMemory',
    says: 'Pod fetch-1, container "download" was killed for lack of memory, exit code 137 SIGKILL: it needs more than its limit of 512Mi (raise resources.limits.memory)',
    exitCode: 137,
  },
]);

const low = 'The node was low on resource: ephemeral-storage. Threshold quantity: 2146223340, available: 1883424Ki.';

table('a pod that was taken away', [
  {
    name: 'by its node, for the disk',
    pod: ended.evicted,
    reason: 'Evicted',
    says: `Pod iris-a was evicted from node worker-1: ${low} Container server was using 3032444Ki, request is 0, has larger consumption of ephemeral-storage (set a request, so that its node keeps room for it)`,
  },
  {
    name: 'by its node, for its own scratch volume',
    pod: ended.overScratch,
    reason: 'Evicted',
    says: 'Pod iris-a was evicted from node worker-1: Usage of EmptyDir volume "scratch" exceeds the limit "64Mi" (raise that limit)',
  },
  {
    name: 'by the scheduler, for another pod',
    pod: ended.preempted,
    reason: 'Evicted',
    says: 'Pod iris-a was evicted from node worker-1: default-scheduler: preempting to accommodate a higher priority pod (add capacity, or give it a priorityClassName)',
  },
  {
    name: 'by a drain',
    pod: ended.drained,
    reason: 'Evicted',
    says: 'Pod iris-a was evicted from node worker-1: Eviction API: evicting',
  },
  {
    name: 'with a node that stopped answering',
    pod: ended.tainted,
    reason: 'NodeLost',
    says: 'Pod iris-a lost node worker-1: Taint manager: deleting due to NoExecute taint',
  },
  {
    name: 'with a node that was removed',
    pod: ended.orphaned,
    reason: 'NodeLost',
    says: 'Pod iris-a lost node worker-1: PodGC: node no longer exists',
  },
  {
    name: 'with a node that shuts down',
    pod: ended.nodeShutdown,
    reason: 'NodeLost',
    says: 'Pod iris-a lost node worker-1: Pod was terminated in response to imminent node shutdown',
  },
  {
    name: 'not yet, but its node is silent',
    pod: ended.nodeSilent,
    reason: 'NodeLost',
    says: 'Pod iris-a lost node worker-1: the node does not answer',
  },
  {
    name: 'by a node that forgot it',
    pod: ended.containerForgotten,
    reason: 'NodeLost',
    says: 'Pod fetch-1 lost node worker-1: The container could not be located when the pod was terminated',
  },
  {
    name: 'because its time was over',
    pod: ended.jobPodOvertime,
    reason: 'DeadlineExceeded',
    says: 'Pod fetch-1 took too long: Pod was active on the node longer than the specified deadline (raise activeDeadlineSeconds)',
  },
]);

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
    'a pod that is done': ended.jobPodDone,
    'a pod that is done although a child of it ran out of memory': ended.jobPodCoped,
    'a pod that runs to its end': ended.jobPodRunning,
    'a pod that ends because it was told to': ended.toldToGo,
    'a crash loop that is being removed': ended.crashLoopLeaving,
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

test('the last lines come with the cause, without the times in front', () => {
  const lines = podCause(crashLoop(ended.crash))?.lastLines?.split('\n') ?? [];
  deepEqual([lines[0], lines[1]], ['INFO loading /weights/model.onnx', 'Traceback (most recent call last):']);
});
