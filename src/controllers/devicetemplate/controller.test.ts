// What becomes of a DeviceTemplate, given what the cache saw: a Module for KMM, consumers where KMM is done, and words about
// every node.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aTemplate,
  consumer,
  daemonSet,
  look,
  module,
  node,
  noFacts,
  revision,
} from '../../../tests/kit/devicetemplate.ts';
import { crashing, unschedulable } from '../../../tests/kit/mlmodel.ts';
import { line, now, says } from '../../../tests/kit/plans.ts';
import { lacking, seen, unseen } from '../../../tests/kit/world.ts';
import type { DeviceTemplate } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { conditionOf, Module, Node, type Pod } from '../../objects/index.ts';
import { gather } from './facts.ts';
import { cut } from './revision.ts';

const lamp = aTemplate();
const all = '!Revision +Module +DaemonSet';
const there = [revision(lamp), module(lamp), daemonSet(lamp)];
const leaving = { ...module(lamp), metadata: { name: 'lamp-module', deletionTimestamp: '2026-01-01T00:00:00Z' } };
const many = Array.from({ length: 100 }, (_, index) => `n${String(index).padStart(3, '0')}`);
const taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' };
const kernels = [{ kernel: '5.14.*', image: 'registry.example/driver:5' }];
const mapped = aTemplate({ driver: { kernels } });
const unmapped = { progress: 'nothing', kernel: '6.1.0' } as const;
const [first, second] = ['1', '2'].map((version) => aTemplate({ driver: { version } })) as [
  DeviceTemplate,
  DeviceTemplate,
];
const former = aTemplate({ consumer: 'registry.example/other:1' });

/** Nodes that are done. */
const done = (object: DeviceTemplate, ...names: string[]) =>
  names.flatMap((name) => [node(object, name), consumer(object, name)]);
const going = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });

const cases: {
  name: string;
  object?: DeviceTemplate;
  world: Observed;
  plan?: string;
  phase: string;
  reason: string;
}[] = [
  {
    name: 'everything is made before any node is ready: it binds nobody',
    world: seen(...there, node(lamp, 'a', { progress: 'nothing' })),
    phase: 'Loading',
    reason: 'ModuleNotLoaded',
  },
  {
    name: 'consumers come when the Module is there',
    world: seen(node(lamp, 'a')),
    plan: '!Revision +Module',
    phase: 'Loading',
    reason: 'ModuleNotLoaded',
  },
  {
    name: 'and go when it is to go, so that nothing keeps it from being unloaded',
    world: seen(revision(lamp), leaving, daemonSet(lamp), node(lamp, 'a'), consumer(lamp, 'a')),
    plan: '!Revision +Module',
    phase: 'Loading',
    reason: 'ModuleNotLoaded',
  },
  {
    name: 'consumers of a Module that somebody took away stay until that has its effect',
    world: seen(revision(lamp), daemonSet(lamp), node(lamp, 'a'), consumer(lamp, 'a')),
    plan: '!Revision +Module =DaemonSet',
    phase: 'Loading',
    reason: 'ModuleNotLoaded',
  },
  {
    name: 'without the API of KMM nothing is made for it',
    world: seen(lacking(Module), node(lamp, 'a', { progress: 'nothing' })),
    plan: '!Revision',
    phase: 'Failed',
    reason: 'ModuleAPIMissing',
  },
  { name: 'no node is meant', world: seen(...there), phase: 'Failed', reason: 'NoMatchingNodes' },
  {
    name: 'only a node that may not be used is meant',
    world: seen(...there, node(lamp, 'a', { taints: [taint] })),
    phase: 'Failed',
    reason: 'NoMatchingNodes',
  },
  {
    name: 'a node in passing trouble is still meant',
    world: seen(...there, node(lamp, 'a', { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' }] })),
    phase: 'Starting',
    reason: 'Starting',
  },
  {
    name: 'the plugin is waited for',
    world: seen(...there, node(lamp, 'a', { progress: 'loaded' })),
    phase: 'Loading',
    reason: 'PluginNotReady',
  },
  {
    name: 'no image for the kernel of any node',
    object: mapped,
    world: seen(module(mapped), node(mapped, 'a', { progress: 'nothing', kernel: '6.1.0' })),
    phase: 'Failed',
    reason: 'KernelNotMapped',
  },
  {
    name: 'nor after an edit, though the labels stay while a consumer keeps KMM from unloading',
    object: mapped,
    world: seen(module(mapped), node(mapped, 'a', { kernel: '6.1.0' }), consumer(mapped, 'a')),
    phase: 'Failed',
    reason: 'KernelNotMapped',
  },
  {
    name: 'a consumer has no place',
    world: seen(...there, node(lamp, 'a'), consumer(lamp, 'a', unschedulable)),
    phase: 'Starting',
    reason: 'Unschedulable',
  },
  {
    name: 'every consumer is ready',
    world: seen(...there, node(lamp, 'a'), consumer(lamp, 'a')),
    phase: 'Ready',
    reason: 'ConsumersReady',
  },
  {
    name: 'a consumer of the former image is not what is asked for',
    world: seen(...there, node(lamp, 'a'), consumer(former, 'a')),
    phase: 'Starting',
    reason: 'Starting',
  },
  {
    name: 'a node that is not told to load the version waits for a person',
    object: second,
    world: seen(module(second), node(first, 'a')),
    phase: 'Failed',
    reason: 'OtherVersion',
  },
  {
    name: 'and so does the last one, if it has a consumer of the former version',
    object: second,
    world: seen(module(second), ...done(second, 'a', 'b'), node(first, 'c'), consumer(first, 'c')),
    phase: 'Failed',
    reason: 'OtherVersion',
  },
  {
    name: 'two nodes whose kernel has no image are too many, whatever becomes of the third',
    object: mapped,
    world: seen(module(mapped), ...done(mapped, 'c'), ...['a', 'b'].map((name) => node(mapped, name, unmapped))),
    phase: 'Failed',
    reason: 'KernelNotMapped',
  },
  {
    name: 'one of three is not, and the cause is that of the node which is waited for',
    object: mapped,
    world: seen(module(mapped), ...done(mapped, 'c'), node(mapped, 'a', unmapped), node(mapped, 'b')),
    phase: 'Starting',
    reason: 'Starting',
  },
  {
    name: 'a consumer of the former revision is one too many, though enough nodes are ready',
    world: seen(...there, ...done(lamp, 'a', 'b'), node(lamp, 'c'), consumer(former, 'c')),
    phase: 'Starting',
    reason: 'Starting',
  },
  {
    name: 'a name that no label can hold makes nothing',
    object: aTemplate({}, { namespace: 'n'.repeat(63) }),
    world: seen(),
    plan: '',
    phase: 'Failed',
    reason: 'NameTooLong',
  },
  {
    name: 'a label of KMM does not tell how a module was loaded: by its own count it is another one, which is in use',
    world: seen(revision(lamp), module(lamp, { moduleLoader: { desiredNumber: 1 } }), ...done(lamp, 'a')),
    phase: 'Loading',
    reason: 'ModuleNotLoaded',
  },
  {
    name: 'nodes that cannot be seen are counted by KMM',
    world: seen(unseen(Node), revision(lamp), module(lamp, counted(2, 2)), consumer(lamp, 'a'), consumer(lamp, 'b')),
    phase: 'Ready',
    reason: 'ConsumersReady',
  },
  {
    name: 'and where consumers are wanted on more, KMM has not counted those yet',
    world: seen(unseen(Node), revision(lamp), module(lamp, counted(1, 1)), daemonSet(lamp, 3), consumer(lamp, 'a')),
    phase: 'Loading',
    reason: 'ModuleNotLoaded',
  },
  {
    name: 'nor is it over while one of the former revision is somewhere',
    world: seen(unseen(Node), module(lamp, counted(2, 2)), consumer(lamp, 'a'), consumer(former, 'b')),
    phase: 'Starting',
    reason: 'Starting',
  },
  {
    name: 'before KMM has counted nobody knows',
    world: seen(unseen(Node), revision(lamp), module(lamp)),
    phase: 'Loading',
    reason: 'NoMatchingNodes',
  },
  {
    name: 'nor when it has counted none, which it leaves out',
    world: seen(unseen(Node), revision(lamp), module(lamp, { moduleLoader: {}, devicePlugin: {} })),
    phase: 'Loading',
    reason: 'NoMatchingNodes',
  },
];

function counted(nodesMatchingSelectorNumber: number, availableNumber: number): NonNullable<Module['status']> {
  return { moduleLoader: { nodesMatchingSelectorNumber, availableNumber }, devicePlugin: { availableNumber } };
}

describe('a DeviceTemplate', () => {
  for (const { name, object = lamp, world, plan = all, phase, reason } of cases)
    test(name, () => {
      const { want, status } = look(object, world);
      equal(want.map(line).join(' '), plan);
      deepEqual([status.phase, conditionOf(status, 'Ready')?.reason], [phase, reason]);
      deepEqual(
        ['Ready', 'Reconciling', 'Stalled'].map((type) => conditionOf(status, type)?.status),
        [phase === 'Ready', phase === 'Loading' || phase === 'Starting', phase === 'Failed'].map((is) =>
          is ? 'True' : 'False',
        ),
      );
    });
});

describe('of several nodes', () => {
  const told = (object: DeviceTemplate, ...world: Parameters<typeof seen>) => {
    const decision = look(object, seen(module(object), ...done(object, 'a', 'b'), ...world));
    return ['Ready', 'Reconciling', 'Stalled'].map((type) => says(decision, type)).join();
  };

  test('one may have to load the module anew, by KMM’s own count', () => {
    const world = seen(module(lamp, counted(3, 2)), ...done(lamp, 'a', 'b', 'c'));
    const { status } = look(lamp, world);
    equal(['Ready', 'Reconciling'].map((type) => conditionOf(status, type)?.status).join(), 'True,True');
    match(status.message ?? '', /^3 of 3 nodes are ready: KMM has module and plugin as they are asked for on 2 of 3/);
  });
  test('one may wait for a person', () => equal(told(second, node(lamp, 'c')), 'True,True,False'));
  test('one may have lost its consumer, and may not have one of the former revision', () => {
    equal(told(lamp, node(lamp, 'c'), consumer(former, 'c')), 'False,True,False');
    equal(told(lamp, node(lamp, 'c'), going(consumer(former, 'c'))), 'True,True,False');
  });
});

describe('of many nodes', () => {
  const ready = many.flatMap((name) => [node(lamp, name), consumer(lamp, name)]);

  test('one may fail: it is named, and the rest is Ready', () => {
    const decision = look(lamp, seen(...there, node(lamp, 'sick', { progress: 'nothing' }), ...ready));
    const { status } = decision;
    deepEqual(status.nodes, { matching: 101, loaded: 100, plugged: 100, ready: 100 });
    deepEqual(
      ['Ready', 'Reconciling', 'Stalled'].map((type) => says(decision, type)),
      ['True', 'True', 'False'],
    );
    match(status.message ?? '', /^100 of 101 nodes are ready: sick has not loaded the module/);
    equal(conditionOf(status, 'ModuleLoaded')?.status, 'False');
  });

  test('the worst three are named and the rest are counted, whatever their order', () => {
    const sick = [
      node(mapped, 'd', { progress: 'nothing' }),
      node(mapped, 'c', { progress: 'loaded' }),
      node(mapped, 'b', { progress: 'nothing', kernel: '6.1.0' }),
      node(mapped, 'a'),
      node(mapped, 'e'),
    ];
    const world = [module(mapped), consumer(mapped, 'a', crashing), ...sick];
    const { status } = look(mapped, seen(...world));
    match(
      status.message ?? '',
      /^0 of 5 nodes are ready: a: .*; b runs the kernel 6\.1\.0.*; the consumer on e .*; and 2 more$/,
    );
    deepEqual(look(mapped, seen(...world.toReversed())).status.message, status.message);
  });

  test('consumers are listed in the order that they are seen in, a thousand at most', () => {
    const names = Array.from({ length: 1_100 }, (_, index) => `n${index + 10_000}`);
    const { status } = look(lamp, seen(...names.map((name) => node(lamp, name))));
    deepEqual([status.consumers?.length, status.consumers?.[0]], [1_000, { node: 'n10000', state: 'Starting' }]);
    equal(status.nodes?.matching, 1_100);
  });
});

describe('what a person is told', () => {
  const message = (object: DeviceTemplate, ...parts: Parameters<typeof seen>) =>
    look(object, seen(module(object), ...parts)).status.message ?? '';

  test('of a selector that means nothing', () =>
    match(message(lamp), /No node has the labels lamps=yes: mend selector/));
  test('of control-plane nodes', () =>
    match(
      message(lamp, node(lamp, 'a', { taints: [taint] })),
      /a has the taint .*control-plane:NoSchedule; name it in tol/,
    ));
  test('and not where that is tolerated, by its name or with all others', () => {
    for (const named of [{ key: taint.key }, { key: '' }, {}]) {
      const tolerant = aTemplate({ tolerations: [{ ...named, operator: 'Exists' }] });
      match(message(tolerant, node(tolerant, 'a', { taints: [taint] })), /^0 of 1 nodes are ready: the consumer on a/);
      deepEqual(cut(tolerant, 1).module.tolerations, tolerant.spec.tolerations);
    }
  });
  test('of a node that waits for its label', () =>
    match(
      message(second, node(lamp, 'a')),
      /label it with kmm\.node\.kubernetes\.io\/version-module\.shop\.lamp-module=2/,
    ));

  test('a consumer that does not start is stalled after ten minutes, and looked at then', () => {
    const world = seen(...there, node(lamp, 'a'), consumer(lamp, 'a', crashing));
    const early = look(lamp, world);
    deepEqual([early.status.phase, early.again], ['Starting', 540_000]);
    const late = look(lamp, world, { at: now + 540_000 });
    deepEqual([late.status.phase, conditionOf(late.status, 'Stalled')?.reason], ['Failed', 'CrashLooping']);
  });

  test('one that ran for weeks has its time from when it was last ready; one that crashes over and over has none left', () => {
    const [container = { name: 'consumer', ready: false, restartCount: 1 }] = crashing.containerStatuses ?? [];
    const crashed = (restartCount: number, startedAt: string): Pod['status'] => ({
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-30T00:00:00Z' }],
      containerStatuses: [
        {
          ...container,
          restartCount,
          lastState: { terminated: { exitCode: 7, startedAt, finishedAt: '2026-01-30T00:00:00Z' } },
        },
      ],
    });
    const at = Date.parse('2026-01-30T00:01:00Z');
    const told = (status: Pod['status']) => {
      const { status: found, again } = look(lamp, seen(...there, node(lamp, 'a'), consumer(lamp, 'a', status)), { at });
      return [found.phase, again];
    };
    deepEqual(told(crashed(1, '2026-01-01T00:00:00Z')), ['Starting', 540_000]);
    deepEqual(told(crashed(9, '2026-01-01T00:00:00Z')), ['Starting', 540_000]);
    deepEqual(told(crashed(9, '2026-01-29T23:59:59Z')), ['Failed', undefined]);
  });

  test('who leaves does not answer any more', () => {
    const world = (pod: Pod) => seen(...there, node(lamp, 'a'), pod);
    deepEqual(
      [consumer(lamp, 'a'), going(consumer(lamp, 'a'))].map((pod) => says(look(lamp, world(pod)), 'Available')),
      ['True', 'False'],
    );
  });

  test('of a former consumer', () =>
    match(message(lamp, node(lamp, 'a'), consumer(former, 'a')), /a still has a consumer of the former revision$/));
  test('of what this operator would do in another way', () => {
    const { status } = look(lamp, seen(...there));
    match(conditionOf(status, 'Outdated')?.message ?? '', /^The consumers run as/);
  });

  test('a namespace that does not take the pods', () => {
    const maker = { ...daemonSet(lamp, 1, 0), metadata: { ...daemonSet(lamp).metadata, uid: 'uid-set' } };
    const world = seen(revision(lamp), module(lamp), maker, node(lamp, 'a'));
    ok(gather.makerEvents.inputs(lamp, world));
    equal(gather.makerEvents.inputs(lamp, seen(daemonSet(lamp))), undefined);
    const involvedObject = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'lamp-consumer', uid: 'uid-set' };
    const text = 'Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest"';
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      type: 'Warning' as const,
      reason: 'FailedCreate',
      message: text,
      involvedObject,
    };
    const { status } = look(lamp, world, { facts: { ...noFacts, makerEvents: { state: 'known', value: [event] } } });
    deepEqual([status.phase, conditionOf(status, 'Stalled')?.reason], ['Failed', 'PodRefused']);
    match(status.message ?? '', /cannot make a pod.*PodSecurity/);
  });
});
