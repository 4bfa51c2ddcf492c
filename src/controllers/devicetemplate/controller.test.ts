// What becomes of a DeviceTemplate, given what the cache saw: a Module for KMM, consumers where KMM is done, and words about
// every node.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
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
import { line, now, says, wantedOf } from '../../../tests/kit/plans.ts';
import { complaintsAbout } from '../../../tests/kit/restricted.ts';
import { lacking, seen, unseen } from '../../../tests/kit/world.ts';
import { type DeviceTemplate, mark } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { conditionOf, type DaemonSet, Module, Node } from '../../objects/index.ts';
import { gather } from './facts.ts';
import { isMapped } from './module.ts';
import { viewOf } from './nodes.ts';
import { cut, revisionName } from './revision.ts';

const lamp = aTemplate();
const all = '!Revision +Module +DaemonSet';
const there = [revision(lamp), module(lamp), daemonSet(lamp)];
const leaving = { ...module(lamp), metadata: { name: 'lamp-module', deletionTimestamp: '2026-01-01T00:00:00Z' } };
const many = Array.from({ length: 100 }, (_, index) => `n${String(index).padStart(3, '0')}`);
const taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' };
const kernels = [{ kernel: '5.14.*', image: 'registry.example/driver:5' }];
const mapped = aTemplate({ driver: { kernels } });
const second = aTemplate({ driver: { version: '2' } });

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
    name: 'what is loaded already is not judged by its kernel',
    object: mapped,
    world: seen(module(mapped), node(mapped, 'a', { kernel: '6.1.0' }), consumer(mapped, 'a')),
    phase: 'Ready',
    reason: 'ConsumersReady',
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
    world: seen(...there, node(lamp, 'a'), consumer(aTemplate({ consumer: 'registry.example/other:1' }), 'a')),
    phase: 'Starting',
    reason: 'Starting',
  },
  {
    name: 'a node that is not told to load the version waits for a person',
    object: second,
    world: seen(module(second), node(aTemplate({ driver: { version: '1' } }), 'a')),
    phase: 'Loading',
    reason: 'OtherVersion',
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
    name: 'nodes that cannot be seen are counted by KMM',
    world: seen(unseen(Node), revision(lamp), module(lamp, counted(2, 2)), consumer(lamp, 'a'), consumer(lamp, 'b')),
    phase: 'Ready',
    reason: 'ConsumersReady',
  },
  {
    name: 'before KMM has counted nobody knows',
    world: seen(unseen(Node), revision(lamp), module(lamp)),
    phase: 'Loading',
    reason: 'ModuleNotLoaded',
  },
  {
    name: 'and may have counted none',
    world: seen(unseen(Node), revision(lamp), module(lamp, counted(0, 0))),
    phase: 'Failed',
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
  test('and not where that is tolerated', () => {
    const tolerant = aTemplate({ tolerations: [{ key: taint.key, operator: 'Exists' }] });
    match(message(tolerant, node(tolerant, 'a', { taints: [taint] })), /^0 of 1 nodes are ready: the consumer on a/);
    deepEqual(cut(tolerant, 1).module.tolerations, tolerant.spec.tolerations);
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

describe('privilege', () => {
  const refused = (object: DeviceTemplate, ...privilegedImages: string[]) =>
    /The image (\S+) would/.exec(
      look(object, seen(...there), { allowed: { privilegedImages } }).status.message ?? '',
    )?.[1];
  const driver = cut(lamp, 1).module.moduleLoader.container.kernelMappings[0]?.containerImage;
  const asking = aTemplate({ privileged: true, consumer: 'registry.example/mine:1' });

  test('is nobody’s if nobody says anything, and nothing is touched then', () => {
    equal(refused(lamp), driver);
    const { want } = look(lamp, seen(...there), { allowed: { privilegedImages: [] } });
    equal(want.map(line).join(' '), '=Revision =Module =DaemonSet');
  });
  test('is given by name', () => equal(refused(lamp, driver ?? ''), 'quay.io/chrisp262/pt-device-plugin:latest'));
  test('is given by a beginning', () => equal(refused(lamp, 'quay.io/chrisp262/*'), undefined));
  test('is not given by a part', () => equal(refused(lamp, 'quay.io/chrisp262'), driver));
  test('a consumer needs it only if it asks', () => {
    equal(refused(asking, 'quay.io/chrisp262/*'), 'registry.example/mine:1');
    equal(refused(aTemplate({ consumer: 'registry.example/mine:1' }), 'quay.io/chrisp262/*'), undefined);
  });
  test('without it a consumer passes the restricted profile; with it, it has the devices of the node', () => {
    deepEqual(complaintsAbout(cut(lamp, 1).template.spec), []);
    const { spec } = cut(asking, 1).template;
    deepEqual(spec.containers[0]?.['securityContext'], { privileged: true });
    ok(JSON.stringify(spec['volumes']).includes('"hostPath":{"path":"/dev"'));
    ok(!JSON.stringify(cut(lamp, 1)).includes('hostPath'));
  });
});

describe('a revision', () => {
  const secret = { name: 'pull' };
  const one = aTemplate({ consumer: 'registry.example/c:1', plugin: 'registry.example/p:1', imagePullSecret: secret });
  const other = aTemplate({
    consumerimage: 'registry.example/c:1',
    deviceplugin: 'registry.example/p:1',
    imageRepoSecret: secret,
  });
  const hash = (object: DeviceTemplate) => cut(object, 1).template.metadata?.labels?.[mark.revision];

  test('does not depend on the spelling', () => {
    equal(revisionName(one), revisionName(other));
    deepEqual(cut(one, 1), cut(other, 1));
    deepEqual(cut(one, 1).module.imageRepoSecret, secret);
    deepEqual(cut(one, 1).template.spec['imagePullSecrets'], [secret]);
  });
  test('without a Secret names none', () => ok(!JSON.stringify(cut(lamp, 1)).includes('ecret')));
  test('rolls consumers only where they change', () => {
    for (const spec of [
      { selector: { other: 'x' } },
      { maxdev: 3 },
      { defaultmsg: 'x' },
      { plugin: 'registry.example/p:2' },
    ])
      equal(hash(aTemplate(spec)), hash(lamp), JSON.stringify(spec));
    for (const spec of [{ consumer: 'registry.example/c:2' }, { requiredDevices: 2 }, { imagePullSecret: secret }])
      notEqual(hash(aTemplate(spec)), hash(lamp), JSON.stringify(spec));
  });
  test('that is stored is what is made, whatever this operator would make', () => {
    const stored = cut(lamp, 1);
    const older = revision(lamp);
    const template = { ...stored.template, spec: { ...stored.template.spec, terminationGracePeriodSeconds: 7 } };
    const decision = look(
      lamp,
      seen({ ...older, data: { ...stored, template } } as typeof older, module(lamp), node(lamp, 'a')),
    );
    const [made] = wantedOf<DaemonSet>(decision, 'DaemonSet');
    equal(made?.spec.template.spec['terminationGracePeriodSeconds'], 7);
    equal(says(decision, 'Outdated'), 'True');
    equal(says(look(lamp, seen(older)), 'Outdated'), 'False');
  });
});

describe('versions', () => {
  const first = aTemplate({ driver: { version: '1' } });
  const world = (desired: number) =>
    seen(module(first), daemonSet(first, desired), node(first, 'a'), node(second, 'b'));

  test('the consumers of a former version stay while nodes have it', () => {
    equal(look(second, world(1)).want.map(line).join(' '), `${all} =DaemonSet`);
    equal(look(second, world(0)).want.map(line).join(' '), all);
    equal(look(lamp, world(1)).want.map(line).join(' '), all, 'and without versions none does');
    equal(
      look(second, seen(module(second), daemonSet(lamp, 3)))
        .want.map(line)
        .join(' '),
      all,
      'nor one that has no version',
    );
  });
  test('each has its own name and its own pods', () => {
    const [one, two] = [daemonSet(first), daemonSet(second)];
    notEqual(one.metadata.name, two.metadata.name);
    notEqual(JSON.stringify(one.spec.selector), JSON.stringify(two.spec.selector));
  });
  test('a node that is told another version loses its consumer before KMM has done anything', () => {
    const text = JSON.stringify(daemonSet(first).spec.template.spec['affinity']);
    for (const label of ['version-module.shop.lamp-module', 'shop.lamp-module.version.ready'])
      ok(text.includes(`{"key":"kmm.node.kubernetes.io/${label}","operator":"In","values":["1"]}`), label);
  });
});

describe('a view of a node', () => {
  const view = viewOf(mapped);
  const { foreign: plain } = node(mapped, 'a');
  const changed = (change: (one: Node) => Node) => view(change(structuredClone(plain)));

  test('does not change with what says nothing about the object', () => {
    const now = { ...plain.metadata, labels: { ...plain.metadata.labels, 'example.com/heat': '3' } };
    deepEqual(
      changed((one) => ({ ...one, metadata: now })),
      view(plain),
    );
    deepEqual(
      changed((one) => ({ ...one, status: { ...one.status, images: ['x'], conditions: [1] } })),
      view(plain),
    );
    deepEqual(
      changed((one) => ({ ...one, status: { nodeInfo: { kernelVersion: '5.14.7' } } })),
      view(plain),
    );
  });
  test('is nothing of a node that is not meant', () =>
    equal(
      changed((one) => ({ ...one, metadata: { name: 'a', labels: { lamps: 'no' } } })),
      undefined,
    ));
});

test('kernels are matched as they are told to KMM', () => {
  const object = aTemplate({
    driver: { kernels: [...kernels, { kernel: '6.1.0+x', image: 'registry.example/driver:6' }] },
  });
  const { kernelMappings } = cut(object, 1).module.moduleLoader.container;
  deepEqual(
    kernelMappings.map(({ regexp, literal }) => regexp ?? literal),
    ['^5\\.14\\..*$', '6.1.0+x'],
  );
  const told = (kernel: string) =>
    kernelMappings.some(({ regexp, literal }) => (regexp ? new RegExp(regexp).test(kernel) : literal === kernel));
  for (const kernel of ['5.14.0-1', '5.140', '5.14', '6.1.0+x', '6.1.0', 'x5.14.1'])
    equal(isMapped(object, kernel), told(kernel), kernel);
  deepEqual(cut(lamp, 1).module.moduleLoader.container.kernelMappings[0]?.regexp, '^.+$');
});
