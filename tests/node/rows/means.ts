// The means by which the rows that simulated nodes play too are played on a real one.

import { lastWords, type Means } from '../../faults/rows/means.ts';
import { irisModel } from '../../kit/onnx/models.ts';
import { answersOnce, running } from '../causes/case.ts';
import type { Answer, Ground } from '../ground.ts';
import { heavyIris } from '../iris.ts';

/** The means of this ground. */
export function realMeans(ground: Ground): Means {
  const { web, cluster, closed, foreign, unknownInstruction, probe } = ground;
  const spec = { modelURL: web.put('/iris.onnx', irisModel()), storageSize: '64Mi', framework: 'onnx' };
  const large = { modelURL: web.put('/heavy.onnx', heavyIris(24)) };
  return {
    spec,
    slow: { modelURL: web.put('/slow.onnx', slowly(irisModel(), 6_000)) },
    storage: {
      provisioner: 'baton.dev/limited',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    },
    tooLarge: {
      own: { ...large, storageSize: '16Mi' },
      words: /^the volume is too small: 24\.0 MiB are needed, it has 1[56]\.\d MiB; ask for more in storageSize$/,
      enough: '64Mi',
      less: '32Mi',
    },
    fits: large,
    images: [
      {
        own: { server: { image: `${cluster.registry}/servers/nothing:1` } },
        reason: 'ImageUnavailable',
        words: /failed to pull and unpack image.*: not found \(check the name/,
      },
      {
        own: { server: { image: foreign } },
        reason: 'UnsupportedCPU',
        words: /no match for platform in manifest.*architecture of this node/,
      },
      {
        own: { server: { image: `${closed.host}/servers/private:1` } },
        reason: 'ImageUnavailable',
        words: /(401|no basic auth|authorization failed).*imagePullSecrets/,
      },
      {
        own: { server: { image: unknownInstruction, args: [] } },
        reason: 'UnsupportedCPU',
        words: /exit code 132 SIGILL: .*AVX/,
      },
    ],
    endings: [
      {
        own: running(ground, `console.error(${JSON.stringify(lastWords)}); process.exitCode = 7`),
        reason: 'CrashLooping',
        words: /keeps crashing with exit code 7: bad magic number in https:\/\//,
      },
      {
        own: { server: { image: probe, args: ['fill', '200'] }, resources: { limits: { memory: '50Mi' } } },
        reason: 'OutOfMemory',
        words: /lack of memory, exit code 137 SIGKILL: it needs more than its limit of 50Mi/,
      },
      {
        own: running(ground, answersOnce),
        reason: 'NotReady',
        words: /its readiness probe does not succeed|Readiness probe failed: HTTP probe failed with statuscode: 500/,
      },
    ],
  };
}

/** Sends the last byte late. */
const slowly =
  (content: Buffer, milliseconds: number): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-length': content.length, etag: '"1"' });
    response.write(content.subarray(0, -1));
    setTimeout(() => response.end(content.subarray(-1)), milliseconds);
  };
