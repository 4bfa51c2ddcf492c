import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Desired, Known } from '../../../src/kube/define.ts';
import { type ConfigMap, conditionOf, label } from '../../../src/objects/index.ts';
import { childIn } from '../cluster/engine.ts';
import { foreign, seen } from '../world.ts';
import { aTrio, configOf, jobOf, serverOf, waitingPod } from './builders.ts';
import { cleaningTrioController, decide, GREETING, RESULT } from './controller.ts';
import type { Trio } from './schema.ts';

/** The plan in the words of the table below: '!' is created once, '+' is applied, '=' is kept untouched, '@' is noted. */
const signs = { create: '!', apply: '+', keep: '=', note: '@' } as const;
const planned = (desired: Desired): string =>
  Object.entries(signs)
    .filter(([verb]) => verb in desired)
    .map(([, sign]) => `${sign}${childIn(desired).kind}`)
    .join('');

const decided = (object: Trio, world = seen(), probe: Known<string> = { state: 'unneeded' }) =>
  decide({ object, seen: world, facts: { probe }, now: 0 });
const plan = (...args: Parameters<typeof decided>) =>
  decided(...args)
    .want.map(planned)
    .join(' ');
const words = ({ status }: ReturnType<typeof decided>) =>
  ['Ready', 'Reconciling', 'Stalled'].map((type) => conditionOf(status, type)?.status).join(' ');

const trio = aTrio();
const edited = aTrio({ image: 'server:2' });
const two = aTrio({ replicas: 2 });
const reading = aTrio({ readFrom: 'source' });
const asking = aTrio({ probe: 'what?' });

const working = '+ConfigMap !Job';
const serving = '+ConfigMap @ConfigMap +Deployment';
const pending = 'False True False';
const rows = [
  { name: 'a new Trio starts with its Job', trio, world: seen(), plan: working, phase: 'Working', words: pending },
  {
    name: 'a running Job is waited for',
    trio,
    world: seen(configOf(trio), jobOf(trio)),
    plan: working,
    phase: 'Working',
    words: pending,
  },
  {
    name: 'a complete Job is noted, no longer wanted, and followed by the servers',
    trio,
    world: seen(configOf(trio), jobOf(trio, 'Complete')),
    plan: serving,
    phase: 'Serving',
    words: pending,
  },
  {
    name: 'a Job that is gone is not missed once its result is noted',
    trio,
    world: seen(configOf(trio, 'done'), serverOf(trio, 1)),
    plan: serving,
    phase: 'Ready',
    words: 'True False False',
  },
  {
    name: 'a failed Job stalls the Trio',
    trio,
    world: seen(configOf(trio), jobOf(trio, 'Failed')),
    plan: working,
    phase: 'Failed',
    words: 'False False True',
  },
  {
    name: 'a Trio without a Job serves at once and notes nothing',
    trio: aTrio({ withJob: false }),
    world: seen(),
    plan: '+ConfigMap +Deployment',
    phase: 'Serving',
    words: pending,
  },
  {
    name: 'servers of the former generation are not Ready, however available',
    trio: edited,
    world: seen(configOf(trio, 'done'), serverOf(trio, 1)),
    plan: serving,
    phase: 'Serving',
    words: pending,
  },
  {
    name: 'one server of two is not Ready',
    trio: two,
    world: seen(configOf(two, 'done'), serverOf(two, 1)),
    plan: serving,
    phase: 'Serving',
    words: pending,
  },
  {
    name: 'a missing source holds everything as it is',
    trio: reading,
    world: seen(configOf(trio, 'done'), serverOf(trio, 1)),
    plan: '=ConfigMap =Deployment',
    phase: 'Pending',
    words: 'False False True',
  },
];

describe('Trio', () => {
  for (const row of rows)
    test(row.name, () => {
      equal(plan(row.trio, row.world), row.plan);
      const { status } = decided(row.trio, row.world);
      equal(status.phase, row.phase);
      equal(words(decided(row.trio, row.world)), row.words);
      ok(status.conditions?.every(({ observedGeneration }) => observedGeneration === 1));
    });

  test('the result is what the Job was told to say', () => {
    const told = aTrio({ jobMessage: 'forty-two' });
    const { want, status } = decided(told, seen(jobOf(told, 'Complete')));
    const notes = want.flatMap((desired) => ('note' in desired ? [desired.annotations] : []));
    deepEqual(notes, [{ [RESULT]: 'forty-two' }]);
    equal(status.result, 'forty-two');
  });

  test('a pod that cannot start is named with its reason', () => {
    const stuck = waitingPod(trio, 'three-server-x', 'ImagePullBackOff', 'no such image');
    const { status } = decided(trio, seen(configOf(trio, 'done'), serverOf(trio, 0), stuck));
    equal(status.message, 'The servers are rolling out: pod three-server-x says ImagePullBackOff: no such image');
  });

  test('the greeting of a foreign ConfigMap is copied', () => {
    const source = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'source', annotations: { [GREETING]: 'good day' } },
    };
    const [first] = decided(reading, seen(foreign(source))).want;
    ok(first && 'apply' in first);
    equal((first.apply as ConfigMap).data?.['greeting'], 'good day');
  });

  test('a gathered answer is waited for, then used', () => {
    equal(decided(asking, seen(), { state: 'pending' }).status.conditions?.[0]?.reason, 'Asking');
    equal(decided(asking, seen(), { state: 'failed', why: 'no line' }).status.conditions?.[0]?.reason, 'CannotAsk');
    const [first] = decided(asking, seen(), { state: 'known', value: 'this' }).want;
    ok(first && 'apply' in first);
    equal((first.apply as ConfigMap).data?.['answer'], 'this');
  });

  test('pod templates carry the labels by which pods are found, and not the UID', () => {
    const { want } = decided(trio, seen(configOf(trio, 'done')));
    const [server] = want.flatMap((desired) => ('apply' in desired ? [desired.apply] : [])).slice(1);
    const { labels } = (server as ReturnType<typeof serverOf>).spec.template.metadata ?? {};
    equal(labels?.[label.kind], 'Trio');
    equal(labels?.[label.name], 'three');
    equal(labels?.[label.uid], undefined);
  });

  test('cleanup forgets what stands outside', async () => {
    const forgotten: string[] = [];
    const clients = { ask: async () => '', forget: async (thing: string) => void forgotten.push(thing) };
    const tools = { kube: undefined as never, clients, signal: new AbortController().signal };
    const run = (object: Trio) => cleaningTrioController.cleanup?.run(object, tools);
    equal(await run(aTrio({ external: 'thing' })), 'done');
    equal(await run(aTrio()), 'done');
    deepEqual(forgotten, ['thing']);
  });
});
