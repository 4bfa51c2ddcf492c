// Images and settings that a kubelet cannot get for a server.

import { Secret } from '../../../src/objects/index.ts';
import { soon, waitsFor } from '../../cluster/causes/case.ts';
import { type RealCase, saidOf } from './case.ts';

const pulls = saidOf('server', (status) => waitsFor(status) === 'ErrImagePull');
const setsUp = saidOf('server', (status) => waitsFor(status) === 'CreateContainerConfigError');

const token = (key: string) => ({ env: [{ name: 'TOKEN', secret: { name: 'token', key } }] });

export const imageCases: RealCase[] = [
  {
    name: 'no such image',
    recorded: 'image-missing',
    own: ({ cluster }) => ({ server: { image: `${cluster.registry}/servers/nothing:1` }, ...soon }),
    report: pulls,
    words: /cannot get an image: failed to pull and unpack image.*not found \(check the name and the tag/,
    reason: 'ImageUnavailable',
    is: 'going',
    deadline: 'of the Deployment',
  },
  {
    name: 'a registry that wants to know who asks',
    recorded: 'image-private',
    own: ({ closed }) => ({ server: { image: `${closed.host}/servers/private:1` } }),
    report: pulls,
    words: /cannot get an image: .*(401|no basic auth|authorization failed).*imagePullSecrets\)/,
    reason: 'ImageUnavailable',
    is: 'going',
  },
  {
    name: 'a registry that does not speak TLS',
    recorded: 'image-no-tls',
    own: ({ web }) => ({ server: { image: `${web.host}/servers/onnx:1` } }),
    report: pulls,
    words: /cannot get an image: .*server gave HTTP response to HTTPS client \(.*without TLS/,
    reason: 'ImageUnavailable',
    is: 'going',
  },
  {
    name: 'a registry that is not there',
    recorded: 'image-no-registry',
    own: ({ cluster }) => ({ server: { image: `${cluster.machineAddress}:9/servers/onnx:1` } }),
    report: pulls,
    words: /cannot get an image: .*connection refused \(the node cannot reach the registry\)/,
    reason: 'ImageUnavailable',
    is: 'going',
  },
  {
    name: 'an image for another architecture only',
    recorded: 'image-other-platform',
    own: ({ foreign }) => ({ server: { image: foreign } }),
    report: pulls,
    words: /no match for platform in manifest.*architecture of this node/,
    reason: 'UnsupportedCPU',
    is: 'going',
  },
  {
    name: 'an image that is none for its own architecture',
    recorded: 'other-architecture',
    own: ({ mislabelled }) => ({ server: { image: mislabelled, args: [] } }),
    report: saidOf('server', ({ containerStatuses: [first] = [] }) => first?.lastState?.terminated),
    words: /exec format error.*built for another architecture than that of node node-1/,
    reason: 'UnsupportedCPU',
    is: 'going',
  },
  {
    name: 'a name that is no name of an image',
    recorded: 'image-invalid',
    own: () => ({ server: { image: 'f'.repeat(64) } }), // the schema takes it, and a kubelet takes it for a digest
    report: saidOf('server', (status) => waitsFor(status) === 'InvalidImageName'),
    words: /cannot specify 64-byte hexadecimal strings \(correct the name of the image\)/,
    reason: 'ImageUnavailable',
    is: 'going',
  },
  {
    name: 'missing Secret',
    recorded: 'secret-missing',
    own: () => ({ ...token('key'), ...soon }),
    report: setsUp,
    words: /cannot be set up: secret "token" not found \(create it, or name another\)/,
    reason: 'ContainerConfigError',
    is: 'going',
    deadline: 'of the Deployment',
  },
  {
    name: 'missing key of a Secret',
    recorded: 'secret-key-missing',
    own: () => token('key'),
    prepare: ({ rig, namespace }) =>
      rig.apply(Secret, { metadata: { namespace, name: 'token' }, stringData: { other: 'not-a-secret' } }),
    report: setsUp,
    words: /cannot be set up: couldn't find key key in Secret \S+\/token \(add that key, or name another\)/,
    reason: 'ContainerConfigError',
    is: 'going',
  },
];
