// By which means a row brings its trouble about: on simulated nodes by notes to the simulator, on real ones by sources,
// volumes and programs that are as bad as they look. What a row expects is the same.

import { PersistentVolumeClaim } from '../../../src/objects/index.ts';
import { must } from '../../kit/rig.ts';
import type { Scene } from './scene.ts';
import { download, server, verdict } from './words.ts';

/** Servers that will not do, and how that is told. */
export interface Trouble {
  own: object;
  reason: string;
  words: RegExp;
}

export interface Means {
  /** What is asked for where nothing else is said. */
  spec: object;
  /** A download that leaves time for other things to happen. */
  slow: object;
  /** How a class of volumes is made, without its name; it can let them grow. */
  storage: object;
  /** A source that does not fit on its volume, the words for that, a size that is enough, and one between the two. */
  tooLarge: { own: object; words: RegExp; enough: string; less: string };
  /** What is asked for when there is enough room. */
  fits: object;
  /** Lets a volume grow that asks for it, where nobody else does. */
  grow?(scene: Scene): Promise<void>;
  /** Images that no node can run, and programs that do not serve. */
  images: readonly Trouble[];
  endings: readonly Trouble[];
}

const noImage = (message?: string) => ({ fault: 'image-pull-error', ...(message !== undefined && { message }) });
const unpack = 'failed to pull and unpack image "servers/onnx:2"';

/** What a program says before it dies may hold what nobody else should read. */
export const lastWords =
  'loading\nbad magic number in https://bob:hunter2@models.example/iris?sig=c2ln of password=hunter3';

/** Does what the maker of the volume would do. */
async function growByHand(scene: Scene): Promise<void> {
  const { rig, namespace, means } = scene;
  const { enough } = means.tooLarge;
  const claim = await scene.eventually(
    async () =>
      (await scene.own(PersistentVolumeClaim)).find(({ spec }) => spec.resources?.requests?.storage === enough),
    'the claim asks for more',
  );
  const patch = JSON.stringify({ status: { capacity: { storage: enough } } });
  const grown = ['patch', 'pvc', claim.metadata.name, '--subresource=status', '--type=merge', '-p', patch];
  await must(rig.plane, ['-n', namespace, ...grown]);
}

/** On simulated nodes. */
export const simulated: Means = {
  spec: { modelURL: 'https://models.example/iris-1.onnx', storageSize: '1Gi', framework: 'onnx' },
  slow: download({ 'run-for': '8s' }),
  storage: { provisioner: 'kubernetes.io/host-path', allowVolumeExpansion: true },
  tooLarge: {
    own: verdict({ result: 'verdict', verdict: 'StorageFull', message: 'needs 3 GiB, has 1 GiB' }),
    words: /^needs 3 GiB, has 1 GiB$/,
    enough: '4Gi',
    less: '2Gi',
  },
  fits: {},
  grow: growByHand,
  images: [
    {
      own: server(noImage()),
      reason: 'ImageUnavailable',
      words: /failed to pull and unpack image "baton:1".*: not found \(check the name/,
    },
    {
      own: server(noImage(`${unpack}: no match for platform in manifest: not found`)),
      reason: 'UnsupportedCPU',
      words: /no match for platform in manifest.*not built for the architecture of this node: choose nodes by/,
    },
    {
      own: server(noImage(`${unpack}: failed to authorize: 401 Unauthorized`)),
      reason: 'ImageUnavailable',
      words: /401 Unauthorized.*imagePullSecrets/,
    },
    {
      own: server({ fault: 'crash', 'exit-code': '132', message: 'Illegal instruction (core dumped)' }),
      reason: 'UnsupportedCPU',
      words: /exit code 132 SIGILL: Illegal instruction.*AVX/,
    },
  ],
  endings: [
    {
      own: server({ fault: 'crash', 'exit-code': '7', message: lastWords }),
      reason: 'CrashLooping',
      words: /keeps crashing with exit code 7: bad magic number in https:\/\//,
    },
    { own: server({ fault: 'oom-killed' }), reason: 'OutOfMemory', words: /lack of memory, exit code 137/ },
    { own: server({ fault: 'not-ready' }), reason: 'NotReady', words: /its readiness probe does not succeed/ },
  ],
};
