import { aJobPod, ended as endedContainer, image, running, unready } from './fixtures/parts.ts';
import * as ended from './fixtures/ended.ts';
import { table } from './fixtures/table.ts';

const { crashLoop } = ended;
const server = 'Pod iris-a, container "server"';
const otherCPU =
  '(it needs CPU features that node worker-1 lacks, often AVX: choose nodes by nodeSelector, or another image)';

const parsing =
  'onnxruntime.capi.onnxruntime_pybind11_state.InvalidProtobuf: [ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Load model from /weights/model.onnx failed:Protobuf parsing failed';

table('a container that ended', [
  {
    name: 'with an exception',
    pod: crashLoop(ended.crash),
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 1: ${parsing}`,
  },
  {
    name: 'with an exception, and has not started again',
    pod: ended.crashedBesideAnother,
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 1: ${parsing}`,
  },
  {
    name: 'without a word',
    pod: crashLoop(ended.silentCrash),
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 1: no reason is given (kubectl logs iris-a -c server --previous may tell more)`,
  },
  {
    name: 'for lack of memory',
    pod: crashLoop(ended.outOfMemory),
    reason: 'OutOfMemory',
    says: `${server} was killed for lack of memory, exit code 137 SIGKILL: it needs more than its limit of 2Gi (raise resources.limits.memory)`,
  },
  {
    name: 'for lack of memory, without a limit of its own',
    pod: { ...crashLoop(ended.outOfMemory), spec: { containers: [{ name: 'server', image }], nodeName: 'worker-1' } },
    reason: 'OutOfMemory',
    says: `${server} was killed for lack of memory, exit code 137 SIGKILL: node worker-1 ran out of memory (set resources.requests.memory and resources.limits.memory)`,
  },
  {
    name: 'killed, but not for its memory',
    pod: crashLoop(ended.killed),
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 137 SIGKILL: E server.go:42] shutting down (killed from outside: look at its liveness probe and the memory of its node)`,
  },
  {
    name: 'with a broken heap and colours',
    pod: crashLoop(ended.segfault),
    reason: 'CrashLooping',
    says: `${server} keeps crashing with exit code 139 SIGSEGV: malloc(): corrupted top size`,
  },
  {
    name: 'a server that leaves in peace',
    pod: crashLoop(ended.leftByItself),
    reason: 'CrashLooping',
    says: `${server} keeps ending with exit code 0: {"level":"info","msg":"no model, leaving"} (it ended although it should go on running)`,
  },
  {
    name: 'a server that leaves in peace, again and again',
    pod: ended.leftThrice,
    reason: 'CrashLooping',
    says: `${server} keeps ending with exit code 0: {"level":"info","msg":"no model, leaving"} (it ended although it should go on running)`,
  },
  {
    name: 'in a pod that is not over yet, and does not start again',
    pod: aJobPod('fetch-1', unready([endedContainer('download', ended.crash), running('proxy')])),
    reason: 'ContainerFailed',
    says: `Pod fetch-1, container "download" failed with exit code 1: ${parsing}`,
  },
  {
    name: 'on a CPU that is too old, below a shell',
    pod: crashLoop(ended.illegalInstruction),
    reason: 'UnsupportedCPU',
    says: `${server} met an instruction that its CPU does not know, exit code 132 SIGILL: /usr/bin/entrypoint.sh: line 3: 6 Illegal instruction (core dumped) model_server --port=8500 "$@" ${otherCPU}`,
  },
  {
    name: 'on a CPU that is too old, without a word',
    pod: crashLoop(ended.illegalInstructionSilent),
    reason: 'UnsupportedCPU',
    says: `${server} met an instruction that its CPU does not know, exit code 132 SIGILL: Illegal instruction ${otherCPU}`,
  },
  {
    name: 'on another architecture',
    pod: crashLoop(ended.otherArchitecture),
    reason: 'UnsupportedCPU',
    says: `${server} cannot run: exec /usr/local/bin/serve: exec format error (it is built for another architecture than that of node worker-1: choose nodes by nodeSelector, or another image)`,
  },
  {
    name: 'an init container',
    pod: ended.initCrash,
    reason: 'CrashLooping',
    says: 'Pod iris-a, container "fetch" keeps crashing with exit code 2: fetch: no such bucket',
  },
  {
    name: 'in a pod that does not start again',
    pod: ended.jobPodFailed,
    reason: 'ContainerFailed',
    says: `Pod fetch-1, container "download" failed with exit code 1: ${parsing}`,
  },
  {
    name: 'first, and drew a sidecar along',
    pod: ended.jobPodWithSidecar,
    reason: 'ContainerFailed',
    says: `Pod fetch-1, container "download" failed with exit code 1: ${parsing}`,
  },
  {
    name: 'for lack of memory, in a pod that does not start again',
    pod: ended.jobPodOutOfMemory,
    reason: 'OutOfMemory',
    says: 'Pod fetch-1, container "download" was killed for lack of memory, exit code 137 SIGKILL: it needs more than its limit of 512Mi (raise resources.limits.memory)',
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
