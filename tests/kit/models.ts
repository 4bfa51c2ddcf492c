// A lane for models: a namespace, a proxy, an operator that is started again whenever it dies, and the questions that the
// stories of MLModel ask.

import { match } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Call, type FaultProxy, startFaultProxy } from '../../controlplane/faults/index.ts';
import { MLModel } from '../../src/api/index.ts';
import { conditionOf } from '../../src/objects/index.ts';
import { eventually } from './eventually.ts';
import type { MainOptions } from './main.ts';
import { startProcess } from './process.ts';
import { product, type Rig } from './rig.ts';
import { type Supervised, supervise } from './story.ts';

export interface ModelLane {
  rig: Rig;
  namespace: string;
  proxy: FaultProxy;
  operator: Supervised;
  /** Creates or edits a model, as a user with kubectl would. */
  model(own?: object, metadata?: object): Promise<MLModel>;
  get(name?: string): Promise<MLModel>;
  /** Waits for Ready of the current generation. */
  ready(name?: string): Promise<MLModel>;
  /** Waits until the message says so. */
  says(words: RegExp): Promise<MLModel>;
  close(): Promise<void>;
}

const spec = { modelURL: 'https://models.example/iris-1.onnx', storageSize: '1Gi', framework: 'onnx' };

/** Opens a lane; no plan is in force yet. */
export async function openModelLane(rig: Rig, options: Partial<MainOptions> = {}): Promise<ModelLane> {
  const { plane } = rig;
  const namespace = await rig.namespace();
  const proxy = await startFaultProxy({ upstream: { url: plane.url, caPem: plane.caPem } });
  const kubeconfig = join(plane.folder, `${namespace}.kubeconfig`);
  writeFileSync(kubeconfig, proxy.kubeconfig(await plane.token(product.home, product.account)));
  const own = { kubeconfig, outside: rig.outside, controller: 'mlmodel', namespaces: [namespace] } as const;
  const operator = supervise(() => startProcess(plane.folder, { ...own, namespaces: [namespace], ...options }));
  const get = (name = 'iris') => rig.admin.get(MLModel, { namespace, name });
  return {
    rig,
    namespace,
    proxy,
    operator,
    model: (asked = {}, metadata = {}) =>
      rig.apply(MLModel, { metadata: { namespace, name: 'iris', ...metadata }, spec: { ...spec, ...asked } }),
    get,
    ready: (name) => becomesReady(() => get(name)),
    says: (words) => tells(get, words),
    async close() {
      await operator.stop();
      await proxy.stop();
    },
  };
}

const becomesReady = (get: () => Promise<MLModel>): Promise<MLModel> =>
  eventually(
    async () => {
      const now = await get();
      const { status, observedGeneration } = conditionOf(now.status, 'Ready') ?? {};
      if (status === 'True' && observedGeneration === now.metadata.generation) return now;
      throw new Error(`${now.metadata.name} is ${JSON.stringify(now.status)}`);
    },
    { within: 120_000, what: 'the model becomes Ready' },
  );

const tells = (get: () => Promise<MLModel>, words: RegExp): Promise<MLModel> =>
  eventually(
    async () => {
      const now = await get();
      match(now.status?.message ?? '', words);
      return now;
    },
    { within: 90_000, what: `the message says ${words}` },
  );

/** The status writes of a model that say so, oldest first. */
export const toldAs = ({ proxy }: ModelLane, words: RegExp): Call[] =>
  proxy.trace.writes({ resource: 'mlmodels', subresource: 'status' }).filter(({ body }) => words.test(body));
