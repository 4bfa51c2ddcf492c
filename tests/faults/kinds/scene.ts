// Where a row of any kind plays: one object in a namespace, perhaps beside healthy ones, with an operator that may be killed at
// any write. A row sees only its own object.

import { deepEqual, match, ok } from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Plan } from '../../../controlplane/faults/index.ts';
import type { Parent } from '../../../src/kube/define.ts';
import { type Condition, conditionOf, type KubeObject, label, Pod } from '../../../src/objects/index.ts';
import { eventually } from '../../kit/eventually.ts';
import { type Lane, onLane } from '../../kit/lane.ts';
import type { Rig } from '../../kit/rig.ts';
import type { Subject } from '../../kit/subject.ts';

/** By itself, with a crash after every write, or beside others that must not notice. */
export type Form = 'alone' | 'crashing' | 'beside';
export const forms: readonly Form[] = ['alone', 'crashing', 'beside'];

export interface Scene<P extends Parent> {
  lane: Lane<P>;
  rig: Rig;
  namespace: string;
  name: string;
  ask(spec: object, metadata?: object): Promise<P>;
  get(): Promise<P>;
  /** Waits until a condition is so, for the current generation. */
  holds(type: string, wanted: Partial<Condition>): Promise<P>;
  ready(): Promise<P>;
  says(words: RegExp): Promise<P>;
  readonly wait: <T>(ask: () => T | Promise<T>, what: string) => Promise<NonNullable<T>>;
}

export interface Row<P extends Parent> {
  name: string;
  /** A resource of which a write is refused again and again: to die of each would leave no time to tell it. */
  refused?: string;
  play(scene: Scene<P>): Promise<void>;
}

/** A kind, and a spec with which one is healthy. */
export interface Cast<P extends Parent> {
  subject: Subject<P>;
  healthy: object;
}

/** How many must not notice. */
const neighbours = 20;

/** Plays one row in one form. */
export const play = <P extends Parent>(
  rig: Rig,
  row: Row<P>,
  { subject, healthy }: Cast<P>,
  form: Form,
  t: TestContext,
) =>
  onLane(rig, { subject, namespaces: [] }, async (lane) => {
    const undisturbed = form === 'beside' ? await settle(lane, healthy) : async () => {};
    if (form === 'crashing') lane.proxy.setPlan(crashAlways(subject, row.refused), lane.operator);
    await row.play(sceneOn(lane, form));
    await undisturbed();
    lane.proxy.clearPlan();
    await leave(lane);
    await pause(form === 'crashing' ? 500 : 0); // a crash that was under way has happened
    if (form !== 'crashing') return;
    t.diagnostic(`${lane.operator.restarts()} crashes`);
    ok(lane.operator.restarts() > 0);
  });

/** What is left would be looked at by the operators of all later rows. */
async function leave<P extends Parent>({ rig, namespace, subject: { kind } }: Lane<P>): Promise<void> {
  for (const { metadata } of await rig.list(kind, namespace))
    await rig.admin.delete(kind, { namespace, name: metadata.name });
}

function crashAlways({ kind, children }: Subject, refused: string | undefined): Plan {
  const resource = [kind, ...children].map(({ plural }) => plural).filter((plural) => plural !== refused);
  return [{ when: { write: { resource }, every: 1 }, do: { kind: 'kill' }, times: 'always' }];
}

function sceneOn<P extends Parent>(lane: Lane<P>, form: Form): Scene<P> {
  const { rig, namespace, subject } = lane;
  const name = 'row';
  const get = () => rig.admin.get(subject.kind, { namespace, name });
  const within = form === 'crashing' ? 240_000 : 90_000;
  const wait: Scene<P>['wait'] = (ask, what) => eventually(ask, { within, what });
  const holds: Scene<P>['holds'] = (type, wanted) =>
    wait(async () => held(await get(), type, wanted), `${type} is ${JSON.stringify(wanted)}`);
  return {
    lane,
    rig,
    namespace,
    name,
    get,
    wait,
    holds,
    ask: (spec, metadata = {}) => rig.apply(subject.kind, { metadata: { namespace, name, ...metadata }, spec }),
    ready: () => holds('Ready', { status: 'True' }),
    says: (words) =>
      wait(async () => {
        const now = await get();
        match(now.status?.message ?? '', words);
        return now;
      }, `the message says ${words}`),
  };
}

function held<P extends Parent>(object: P, type: string, wanted: Partial<Condition>): P {
  const condition = conditionOf(object.status, type);
  const asked = { observedGeneration: object.metadata.generation, ...wanted };
  if (condition && Object.entries(asked).every(([key, value]) => condition[key as keyof Condition] === value))
    return object;
  throw new Error(
    `${object.metadata.name}, generation ${object.metadata.generation}, is ${JSON.stringify(object.status)}`,
  );
}

/** Healthy objects of the same kind that have come to rest; answers with a check that nothing of theirs was written since. */
async function settle<P extends Parent>({ rig, namespace, subject }: Lane<P>, healthy: object) {
  const names = Array.from({ length: neighbours }, (_, index) => `neighbour-${index + 1}`);
  await Promise.all(names.map((name) => rig.apply(subject.kind, { metadata: { namespace, name }, spec: healthy })));
  const isTheirs = ({ metadata }: KubeObject) => names.includes(metadata.labels?.[label.name] ?? metadata.name);
  const look = async () => {
    const lists = await Promise.all([subject.kind, ...subject.children, Pod].map((kind) => rig.list(kind, namespace)));
    return lists.flat().filter(isTheirs);
  };
  const settled = await eventually(
    async () => {
      const before = await look();
      for (const object of before.filter(({ kind }) => kind === subject.kind.kind))
        held(object as P, 'Ready', { status: 'True' });
      await pause(2_000);
      const after = await look();
      deepEqual(after.map(words), before.map(words));
      return after;
    },
    { within: 150_000, what: `${neighbours} neighbours are Ready and rest` },
  );
  return async () => deepEqual((await look()).map(words), settled.map(words), 'the neighbours noticed nothing');
}

const words = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
