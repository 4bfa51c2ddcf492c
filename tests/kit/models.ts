// A lane for models, with the questions that the stories of MLModel ask.

import { match } from 'node:assert/strict';
import type { Call } from '../../controlplane/faults/index.ts';
import { MLModel } from '../../src/api/index.ts';
import { eventually } from './eventually.ts';
import type { MainOptions } from './main.ts';
import { mlmodel } from './modellife.ts';
import type { Rig } from './rig.ts';
import { becomesReady, type Lane, openLane } from './lane.ts';

export interface ModelLane extends Lane<MLModel> {
  /** Creates or edits a model, as a user with kubectl would. */
  model(own?: object, metadata?: object): Promise<MLModel>;
  get(name?: string): Promise<MLModel>;
  /** Waits for Ready of the current generation. */
  ready(name?: string): Promise<MLModel>;
  /** Waits until the message says so. */
  says(words: RegExp): Promise<MLModel>;
}

const spec = { modelURL: 'https://models.example/iris-1.onnx', storageSize: '1Gi', framework: 'onnx' };

/** Opens a lane; no plan is in force yet. */
export async function openModelLane(rig: Rig, options: Partial<MainOptions> = {}): Promise<ModelLane> {
  const lane = await openLane(rig, { subject: mlmodel, ...options });
  const { namespace } = lane;
  const get = (name = 'iris') => rig.admin.get(MLModel, { namespace, name });
  return {
    ...lane,
    model: (asked = {}, metadata = {}) =>
      rig.apply(MLModel, { metadata: { namespace, name: 'iris', ...metadata }, spec: { ...spec, ...asked } }),
    get,
    ready: (name = 'iris') => becomesReady(lane, name, 120_000),
    says: (words) => tells(get, words),
  };
}

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
