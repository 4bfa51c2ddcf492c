// Images that a node cannot get, of a container or of an image volume. A kubelet says the same failure in two ways by
// turns, while it tries and while it waits; both give the same words here.

import { nameOf } from './cause.ts';
import { containerIn, type ContainerJudge } from './containers.ts';
import { adviceFor, sentence } from './words.ts';

const pullFailures = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/** In the words of containerd, of Docker and of CRI-O. */
const otherArchitecture =
  /no match for platform|no matching manifest|no image found in (image index|manifest list) for/;

const advice = [
  [
    otherArchitecture,
    'the image is not built for the architecture of this node: choose nodes by kubernetes.io/arch in nodeSelector, or another image',
  ],
  [
    /\b(401|403)\b|unauthorized|denied|authentication required|no basic auth/i,
    'check the name of the image, or name a Secret for its registry in imagePullSecrets',
  ],
  [/x509|certificate/, 'the node does not trust the registry'],
  [
    /server gave HTTP response to HTTPS client/,
    'the registry answers without TLS, which the settings of the node must allow for it',
  ],
  [
    /no such host|i\/o timeout|connection refused|network is unreachable|registry is unavailable/,
    'the node cannot reach the registry',
  ],
  [/invalid reference format|InvalidImageName|parse image name/, 'correct the name of the image'],
  [/not found|manifest unknown|does not exist/i, 'check the name and the tag of the image'],
  [/no space left on device/, 'the disk of the node is full'],
  [/signature/, 'the image must be signed'],
] as const;

/** In the kubelet's own words. */
export const imageUnavailable: ContainerJudge = (container, pod) => {
  const { reason = '', message } = container.state?.waiting ?? {};
  if (!pullFailures.has(reason)) return undefined;
  const { image, words } = pullError(message ?? '', container.image ?? '');
  const which = words.includes(image) ? 'an image' : `the image ${image}`;
  const told = sentence(`${containerIn(pod, container)} cannot get ${which}`, words, adviceFor(words, advice));
  const why = otherArchitecture.test(words) ? 'UnsupportedCPU' : 'ImageUnavailable';
  return { reason: why, message: told, object: nameOf(pod) };
};

const waitingFor = /^Back-off pulling image "(?<image>[^"]*)"(?:: (?<words>.*))?$/s;
const kubeletName = /^(ErrImagePull|RegistryUnavailable|SignatureValidationFailed): /;

/** The image that is meant, which for an image volume is not the container's own, and what went wrong with it. */
function pullError(message: string, own: string): { image: string; words: string } {
  const { image, words = '' } = waitingFor.exec(message)?.groups ?? { words: message };
  const error = words.replace(kubeletName, '').replace(/^rpc error: code = \w+ desc = /, '');
  return { image: image ?? /image "([^"]+)"/.exec(error)?.[1] ?? own, words: error };
}
