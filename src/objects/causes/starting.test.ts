import type { Pod } from '../pod.ts';
import * as ended from './fixtures/ended.ts';
import * as starting from './fixtures/starting.ts';
import { table } from './fixtures/table.ts';

const image = 'registry.example.com/servers/onnx:1.4.0';
const server = 'Pod iris-a, container "server"';
const notFound = `failed to pull and unpack image "${image}": failed to resolve image: ${image}: not found (check the name and the tag of the image)`;

const withSelector = (pod: Pod, nodeSelector: Record<string, string>): Pod => ({
  ...pod,
  spec: { ...pod.spec, nodeSelector },
});

/** A pod whose server has an image for amd64 alone, as the table of frameworks says, and for which a person asks for more. */
const forAmd64 = (pod: Pod, asked: Record<string, string> = {}): Pod => {
  const metadata = { ...pod.metadata, annotations: { 'baton.dev/built-for': 'amd64' } };
  return { ...withSelector(pod, { ...asked, 'kubernetes.io/arch': 'amd64' }), metadata };
};

const addAmd64 =
  'the image of the server is built for amd64: add such a node, or name an image for other nodes in server.image';

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
    name: 'no node has the architecture for which its image is built',
    pod: forAmd64(starting.noSuchNode),
    reason: 'UnsupportedCPU',
    says: `Pod iris-a cannot be scheduled: 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling (${addAmd64})`,
  },
  {
    name: 'no node has that architecture and its other labels',
    pod: forAmd64(starting.noSuchNode, { disk: 'fast' }),
    reason: 'Unschedulable',
    says: `Pod iris-a cannot be scheduled: 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling (check nodeSelector against the labels of the nodes; ${addAmd64})`,
  },
  {
    name: 'no node has that architecture, but for one with a taint, of which the scheduler looks at nothing else',
    pod: forAmd64(starting.noSuchNodeButTainted),
    reason: 'UnsupportedCPU',
    says: `Pod iris-a cannot be scheduled: 0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling (${addAmd64}, or add a toleration if one has the taint)`,
  },
  {
    name: 'a node has that architecture, and is full',
    pod: forAmd64(starting.noSuchNodeButFull),
    reason: 'Unschedulable',
    says: `Pod iris-a cannot be scheduled: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling (add capacity, or ask for less; ${addAmd64})`,
  },
  {
    name: 'no node has the architecture that a person asks for, of which our image knows nothing',
    pod: withSelector(starting.noSuchNode, { 'kubernetes.io/arch': 'arm64' }),
    reason: 'Unschedulable',
    says: "Pod iris-a cannot be scheduled: 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling (check nodeSelector against the labels of the nodes)",
  },
  {
    name: 'nodes have that architecture, and a taint each',
    pod: forAmd64(starting.allTainted),
    reason: 'Unschedulable',
    says: 'Pod iris-a cannot be scheduled: 0/3 nodes are available: 3 node(s) had untolerated taint(s). preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling (add a toleration, or a node without the taint)',
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
    name: 'no image, but something else in a registry, mounted as one',
    pod: starting.volumeImageMismatched,
    reason: 'VolumeUnavailable',
    says: `${server} cannot be started: failed to mount image volume: ImageVolumeMountFailed: failed to unpack image volume: mismatched image rootfs and manifest layers (it is not packed as an image that nodes can mount)`,
  },
  {
    name: 'an image whose config is of another type, mounted',
    pod: starting.volumeImageBroken,
    reason: 'VolumeUnavailable',
    says: `${server} cannot be started: failed to mount image volume: ImageVolumeMountFailed: failed to unpack image volume: apply layer error for "sha256:4e1654829b3b84ba5f487ce1a054c744031711be4103138e737d3359f95e93f2": failed to extract layer sha256:9287a0dd8f547924a3a92271e96234bfd34592b986b821ccc7c648600eadf830: failed to get reader from content store: content digest sha256:9287a0dd8f547924a3a92271e96234bfd34592b986b821ccc7c648600eadf830: not found (it is not packed as an image that nodes can mount)`,
  },
  {
    name: 'no build for the architecture',
    pod: starting.imageOtherPlatform,
    reason: 'UnsupportedCPU',
    says: `${server} cannot get an image: failed to pull and unpack image "${image}": no match for platform in manifest: not found (the image is not built for the architecture of this node: choose nodes by kubernetes.io/arch in nodeSelector, or another image)`,
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
  },
  {
    name: 'its command is not in the image, while the kubelet waits',
    pod: starting.commandMissingBackOff,
    reason: 'ContainerCannotRun',
    says: noCommand,
  },
]);
