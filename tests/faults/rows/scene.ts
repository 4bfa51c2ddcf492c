// Where a row plays: one model under its own name in a namespace, perhaps beside others, with an operator that may be
// killed at any write. A row sees only what belongs to its model, so that it can be played in company.

import { match } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Call, FaultProxy, Plan } from '../../../controlplane/faults/index.ts';
import { MLModel } from '../../../src/api/index.ts';
import {
  type Condition,
  conditionOf,
  Deployment,
  type Kind,
  type KubeObject,
  label,
} from '../../../src/objects/index.ts';
import { eventually } from '../../kit/eventually.ts';
import type { ModelLane } from '../../kit/models.ts';
import type { Rig } from '../../kit/rig.ts';
import { startWitness, type Witness } from '../../kit/witness.ts';
import type { Means } from './means.ts';

/** How a row is played: by itself, with a crash after every write, or beside models that must not notice. */
export type Form = 'alone' | 'crashing' | 'beside';

export interface Scene {
  rig: Rig;
  namespace: string;
  proxy: FaultProxy;
  /** The name of the model. */
  name: string;
  form: Form;
  means: Means;
  /** Has seen every revision of the namespace's models and Deployments since the row began. */
  witness: Witness;
  /** Creates or edits the model, as a user with kubectl would. */
  model(own?: object, metadata?: object): Promise<MLModel>;
  get(): Promise<MLModel>;
  /** Waits for Ready of the current generation. */
  ready(): Promise<MLModel>;
  /** Waits until the message says so. */
  says(words: RegExp): Promise<MLModel>;
  /** Waits until a condition is so, for the current generation. */
  holds(type: string, wanted: Partial<Condition>): Promise<Condition>;
  /** Waits until the answer is truthy, as long as it may take where operators die all the time. */
  eventually<T>(ask: () => T | Promise<T>, what: string): Promise<NonNullable<T>>;
  /** What is there of the model's children. */
  own<T extends KubeObject>(kind: Kind<T>): Promise<T[]>;
  /** Children that the operator has made, whether they are still there or not. */
  made(resource: string): Call[];
  /** Ends the operator, and cuts off whoever starts it again, while something happens. */
  whileDown(happens: () => Promise<void>): Promise<void>;
}

/** A row of the table of bad inputs and faults. */
export interface Row {
  name: string;
  /** It changes the definition of the kind, which is everybody's: nothing else is played meanwhile. */
  changesKind?: true;
  play(scene: Scene): Promise<void>;
}

/** A crash after every write. An Event that is there already changes nothing, and would be the end again and again. */
export const crashAlways: Plan = [
  {
    when: {
      write: {
        resource: [
          'mlmodels',
          'controllerrevisions',
          'persistentvolumeclaims',
          'jobs',
          'deployments',
          'services',
          'poddisruptionbudgets',
        ],
      },
      every: 1,
    },
    do: { kind: 'kill' },
    times: 'always',
  },
];

/** Sets the scene on a lane. */
export async function openScene(lane: ModelLane, name: string, form: Form, means: Means): Promise<Scene> {
  const { rig, namespace, proxy } = lane;
  const witness = await startWitness(rig.admin, namespace, [MLModel, Deployment]);
  const begun = proxy.trace.mark();
  const get = () => rig.admin.get(MLModel, { namespace, name });
  const within = form === 'crashing' ? 300_000 : 120_000;
  const wait: Scene['eventually'] = (ask, what) => eventually(ask, { within, what });
  return {
    rig,
    namespace,
    proxy,
    name,
    form,
    means,
    witness,
    get,
    model: (own = {}, metadata = {}) =>
      rig.apply(MLModel, { metadata: { namespace, name, ...metadata }, spec: { ...means.spec, ...own } }),
    eventually: wait,
    ready: async () => {
      await wait(async () => held(await get(), 'Ready', { status: 'True' }), 'the model becomes Ready');
      return get();
    },
    says: (words) => wait(async () => telling(await get(), words), `the message says ${words}`),
    holds: (type, wanted) => wait(async () => held(await get(), type, wanted), `${type} is ${JSON.stringify(wanted)}`),
    own: async (kind) =>
      (await rig.list(kind, namespace)).filter(({ metadata }) => metadata.labels?.[label.name] === name),
    made: (resource) =>
      proxy.trace
        .writes({ resource, verb: 'create', namespace })
        .filter((call) => call.seq > begun && call.name.startsWith(`${name}-`) && call.answer?.status === 201),
    whileDown: (happens) => whileDown(lane, happens),
  };
}

function telling(model: MLModel, words: RegExp): MLModel {
  match(model.status?.message ?? '', words);
  return model;
}

function held({ metadata, status }: MLModel, type: string, wanted: Partial<Condition>): Condition {
  const condition = conditionOf(status, type);
  const asked = { observedGeneration: metadata.generation, ...wanted };
  if (condition && Object.entries(asked).every(([key, value]) => condition[key as keyof Condition] === value))
    return condition;
  throw new Error(`${metadata.name}, generation ${metadata.generation}, is ${JSON.stringify(status)}`);
}

/** The one that a plan may just have started is cut off like the one before it, and is not the one that goes on afterwards. */
async function whileDown({ proxy, operator }: ModelLane, happens: () => Promise<void>): Promise<void> {
  await proxy.now({ kind: 'connections', manner: 'refuse' });
  await pause(500); // a crash that was under way has happened
  await happens();
  await operator.kill();
  await proxy.now({ kind: 'connections', manner: 'accept' });
}
