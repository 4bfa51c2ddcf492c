// The operator under test, as a process of its own: the engine with the test kind. What it does outside the cluster it
// does in a folder, so that a test can play and read that world. Everything is one JSON argument.

import { appendFileSync, readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { egressRules, makeLog, systemClock } from '../../src/base/index.ts';
import {
  defaultLimits,
  defineController,
  type Limits,
  loadKubeconfig,
  type OperatorOptions,
  startOperator,
} from '../../src/kube/index.ts';
import { clientsFrom, controllersFrom, type ExposureSettings } from '../../src/operator/index.ts';
import { ConfigMap, kindOf, type KubeObject } from '../../src/objects/index.ts';
import { mutated } from '../campaign/mutants/index.ts';
import { defaultSettings } from './settings.ts';
import { cleaningTrioController, type TrioClients, trioController } from './trio/controller.ts';

/** How a test starts the operator. */
export interface MainOptions {
  kubeconfig: string;
  /** Answers to questions are files in here; what is forgotten becomes a line of the file `forgotten`. */
  outside: string;
  identity: string;
  /** `beside`: the plain one, and another one whose kind is not installed. */
  controller: 'plain' | 'cleaning' | 'beside' | 'mlmodel';
  /** For mlmodel: another build, whose own image, framework table and builder of pods all differ. */
  build?: 'another';
  /** For mlmodel: an image of our own that really exists, for nodes that run it. */
  image?: string;
  /** For mlmodel: whether nodes mount images, and registries on loopback that are spoken to without TLS. */
  imageVolumes?: 'auto' | 'on' | 'off';
  plainRegistries?: string[];
  /** For mlmodel: images that may run with the rights of a node; those of registry.example if left out. */
  privilegedImages?: string[];
  /** For mlmodel: addresses that nobody may reach. */
  egressDeny?: string[];
  /** For mlmodel: how models are exposed, beside what holds if nobody says anything. */
  exposure?: Partial<ExposureSettings>;
  /** A fault that is planted into the controller, by its name. */
  mutant?: string;
  namespaces?: string[];
  parentSelector?: string;
  lease?: { namespace: string; name: string };
  limits?: Partial<Limits>;
  level?: 'debug' | 'info';
}

const options = JSON.parse(process.argv[2] ?? '{}') as MainOptions;
const log = makeLog({
  level: options.level ?? 'info',
  format: 'text',
  now: () => Date.now(),
  write: (line) => void process.stderr.write(line),
});

const clients: TrioClients = {
  ask: async (question) => readFileSync(join(options.outside, question), 'utf8'),
  forget: async (thing) => appendFileSync(join(options.outside, 'forgotten'), `${thing}\n`),
};

/** A kind that nobody has installed. */
const absentController = defineController({
  kind: kindOf<KubeObject>('absent.test.baton.dev/v1', 'Absent', 'absents'),
  owns: [ConfigMap],
  decide: () => ({ want: [], status: {} }),
});

/** What another build differs in: the image of our own programs, and the table of frameworks. */
function buildOf({ build, image }: MainOptions) {
  if (build === undefined) return { image: image ?? 'baton:1', frameworks: {} };
  const onnx = { args: ['serve', '--model={model}', '--port=9090'], port: 9090, writable: ['/scratch'] };
  return { image: image ?? 'baton:2', frameworks: { onnx } };
}

function modelController(asked: MainOptions) {
  const { namespaces = [], imageVolumes = 'auto', plainRegistries = [], egressDeny = [] } = asked;
  const { privilegedImages = ['registry.example/*', 'quay.io/chrisp262/*'] } = asked;
  // Registries of a test are on loopback, which the product never reaches.
  const rules = egressRules({ allow: ['127.0.0.1'], deny: egressDeny });
  const fixed = { namespaces, imageVolumes, privilegedImages };
  const settings = { ...defaultSettings, ...buildOf(asked), ...asked.exposure, ...fixed };
  const around = { clock: systemClock, random: Math.random, rules };
  return controllersFrom({ ...settings, egressDeny, plainRegistries }, clientsFrom({ plainRegistries }, around));
}

function controllersOf(asked: MainOptions): OperatorOptions['controllers'] {
  const table: Record<MainOptions['controller'], OperatorOptions['controllers']> = {
    plain: [{ definition: trioController, clients }],
    cleaning: [{ definition: cleaningTrioController, clients }],
    beside: [{ definition: trioController, clients }, { definition: absentController }],
    mlmodel: modelController(asked),
  };
  const { mutant } = asked;
  if (mutant === undefined) return table[asked.controller];
  return table[asked.controller].map((one) => ({ ...one, definition: mutated(one.definition, mutant) }));
}

const operator = await startOperator({
  controllers: controllersOf(options),
  access: () => loadKubeconfig(options.kubeconfig),
  namespaces: options.namespaces ?? [],
  ...(options.parentSelector !== undefined && { parentSelector: options.parentSelector }),
  ...(options.lease && { lease: { ...options.lease, identity: options.identity } }),
  workers: 4,
  health: { host: '127.0.0.1', port: 0 },
  clock: systemClock,
  random: Math.random,
  log,
  limits: { ...defaultLimits, ...options.limits },
});
process.stdout.write(`${operator.port}\n`);
flushCompileCache(); // what is killed would leave nothing to the next one
process.once('SIGTERM', () => void operator.stop().then(() => process.exit(0)));
