// What keeps servers from answering, brought about on a real node.

import { match } from 'node:assert/strict';
import { MLModel } from '../../../src/api/index.ts';
import { endOf, soon, waitsFor } from '../../cluster/causes/case.ts';
import { gaveUp } from '../../cluster/causes/servers.ts';
import { answersOnce, type RealCase, running, saidOf } from './case.ts';

const probed = /runs, but is not ready: Startup probe failed: HTTP probe failed with statuscode: 404/;

export const serverCases: RealCase[] = [
  {
    name: 'unschedulable',
    recorded: 'unschedulable',
    own: () => ({ resources: { requests: { cpu: '1000' } }, ...soon }),
    report: saidOf('server', ({ conditions }) =>
      conditions?.some(({ type, status }) => type === 'PodScheduled' && status === 'False'),
    ),
    words: /cannot be scheduled: 0\/1 nodes are available: 1 Insufficient cpu.*\(add capacity, or ask for less\)/,
    reason: 'Unschedulable',
    is: 'going',
    deadline: 'of the Deployment',
  },
  {
    name: 'crash loop',
    recorded: 'crash-loop',
    own: (ground) => ({
      ...running(ground, "console.error('loading\\ncannot open model.onnx'); process.exitCode = 3"),
      ...soon,
    }),
    report: saidOf('server', (status) => endOf(status)?.exitCode === 3),
    words: /keeps crashing with exit code 3: cannot open model\.onnx$/,
    reason: 'CrashLooping',
    is: 'going',
    deadline: 'of the Deployment',
  },
  {
    name: 'a crash with a word in the place for last words',
    recorded: 'crash-message',
    own: (ground) =>
      running(
        ground,
        "fs.writeFileSync('/dev/termination-log', 'the weights are of another version'); process.exit(7)",
      ),
    report: saidOf('server', (status) => endOf(status)?.exitCode === 7),
    words: /keeps crashing with exit code 7: the weights are of another version$/,
    reason: 'CrashLooping',
    is: 'going',
  },
  {
    name: 'out of memory',
    recorded: 'out-of-memory',
    own: ({ probe }) => ({
      server: { image: probe, args: ['fill', '200'] },
      resources: { limits: { memory: '50Mi' } },
    }),
    report: saidOf('server', (status) => endOf(status)?.reason === 'OOMKilled'),
    words: /killed for lack of memory, exit code 137 SIGKILL: .*its limit of 50Mi \(raise resources\.limits\.memory\)/,
    reason: 'OutOfMemory',
    is: 'going',
  },
  {
    name: 'an instruction that the CPU does not know',
    recorded: 'illegal-instruction',
    own: ({ unknownInstruction: image }) => ({ server: { image, args: [] } }),
    report: saidOf('server', (status) => endOf(status)?.exitCode === 132),
    words: /exit code 132 SIGILL.*AVX/,
    reason: 'UnsupportedCPU',
    is: 'going',
  },
  {
    name: 'evicted, and ended in good order',
    recorded: 'evicted',
    own: (ground) => ({
      ...running(ground, talksTooMuch),
      resources: { limits: { 'ephemeral-storage': '4Mi' } },
    }),
    report: saidOf('server', ({ phase }) => phase === 'Succeeded'),
    words: /was evicted from node node-1: .*ephemeral.*4Mi.*\(raise that limit\)/,
    reason: 'Evicted',
    is: 'going',
  },
  {
    name: 'never ready: another path than that of its health, for which it is ended and started again',
    recorded: 'not-started',
    own: (ground) => ({ ...running(ground, knowsNoHealth), ...soon }),
    report: gaveUp,
    words: probed,
    reason: 'NotReady',
    is: 'stalled',
    async later(place) {
      await saidOf(
        'server',
        ({ containerStatuses: [first] = [] }) => first?.restartCount === 1 && first.state?.running,
      )(place);
      const { status } = await place.rig.admin.get(MLModel, { namespace: place.namespace, name: 'iris' });
      match(status?.message ?? '', probed);
    },
  },
  {
    name: 'never ready: it answers with an error once it has started',
    recorded: 'not-ready',
    own: (ground) => ({ ...running(ground, answersOnce), ...soon }),
    report: saidOf('server', ({ containerStatuses: [first] = [] }) => first?.started),
    words: /container "server" runs, but its readiness probe does not succeed/,
    reason: 'NotReady',
    is: 'going',
    deadline: 'of the Deployment',
  },
  {
    name: 'a command that is not in the image',
    recorded: 'command-missing',
    own: ({ image }) => ({ server: { image, command: ['/no/such/program'] } }),
    report: saidOf('server', (status) => waitsFor(status) === 'RunContainerError' || endOf(status)),
    words: /cannot be started: .*"\/no\/such\/program".*no such file or directory.*\(check its command/,
    reason: 'ContainerCannotRun',
    is: 'going',
  },
];

const knowsNoHealth = `process.on('SIGTERM', () => process.exit(1));
require('node:http').createServer((_, response) => response.writeHead(404).end()).listen(8080)`;

/** What a program writes counts as storage of its node, and is looked at more often than its folders. */
const talksTooMuch = `process.on('SIGTERM', () => process.exit());
for (let line = 0; line < 100; line++) console.log('much ado '.repeat(10_000)); setInterval(() => {}, 1000)`;
