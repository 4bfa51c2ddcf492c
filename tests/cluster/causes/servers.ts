// What keeps servers from answering.

import { Deployment, Pod } from '../../../src/objects/index.ts';
import { reported } from '../../kit/telling.ts';
import { befalls, type Case, endOf, podOf, soon, waitsFor } from './case.ts';

const server = (notes: Record<string, string>) => ({ ...befalls('server', notes), ...soon });

export const serverCases: Case[] = [
  {
    name: 'unschedulable',
    own: { resources: { requests: { cpu: '1000' } }, ...soon },
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('server', ({ conditions }) => conditions?.some(isUnplaced)),
      ),
    words: /cannot be scheduled: 0\/1 nodes are available: 1 Insufficient cpu.*\(add capacity, or ask for less\)/,
    reason: 'Unschedulable',
    is: 'going',
    deadline: 'of the Deployment',
  },
  {
    name: 'image cannot be pulled',
    own: server({ fault: 'image-pull-error' }),
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('server', (status) => waitsFor(status) === 'ErrImagePull'),
      ),
    words: /cannot get an image: failed to pull and unpack image "baton:1": failed to resolve reference/,
    reason: 'ImageUnavailable',
    is: 'going',
    deadline: 'of the Deployment',
  },
  {
    name: 'missing Secret',
    own: server({ fault: 'config-error', message: 'secret "token" not found' }),
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('server', (status) => waitsFor(status) === 'CreateContainerConfigError'),
      ),
    words: /cannot be set up: secret "token" not found \(create it, or name another\)/,
    reason: 'ContainerConfigError',
    is: 'going',
  },
  {
    name: 'crash loop',
    own: server({ fault: 'crash', 'exit-code': '3', message: 'loading\ncannot open model.onnx' }),
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('server', (status) => endOf(status)?.exitCode === 3),
      ),
    words: /keeps crashing with exit code 3: cannot open model\.onnx$/,
    reason: 'CrashLooping',
    is: 'going',
    deadline: 'of the Deployment',
  },
  {
    name: 'out of memory',
    own: { resources: { limits: { memory: '300Mi' } }, ...server({ fault: 'oom-killed' }) },
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('server', (status) => endOf(status)?.reason === 'OOMKilled'),
      ),
    words: /killed for lack of memory, exit code 137.*its limit of 300Mi/,
    reason: 'OutOfMemory',
    is: 'going',
  },
  {
    name: 'evicted',
    own: server({ fault: 'evicted', 'start-delay': '4s', 'run-for': '1s' }),
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('server', ({ reason }) => reason === 'Evicted'),
      ),
    words: /was evicted from node node-1: The node was low on resource: memory/,
    reason: 'Evicted',
    is: 'going',
  },
  {
    name: 'not ready until the deadline',
    own: server({ fault: 'not-ready' }),
    report: (place) =>
      reported(
        place,
        Pod,
        podOf('server', ({ phase }) => phase === 'Running'),
      ),
    words: /container "server" runs, but its readiness probe does not succeed/,
    reason: 'NotReady',
    is: 'going',
    deadline: 'of the Deployment',
  },
];

const isUnplaced = ({ type, status }: { type: string; status: string }) =>
  type === 'PodScheduled' && status === 'False';

/** When the Deployment gave up. */
export const gaveUp = (place: Parameters<Case['report']>[0]): Promise<number> =>
  reported(place, Deployment, ({ status }) =>
    Boolean(status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded')),
  );
