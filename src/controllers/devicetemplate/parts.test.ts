// The parts of a DeviceTemplate: who may have privilege, what rolls and what does not, versions beside each other, nodes and kernels.

import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aTemplate, consumer, daemonSet, look, module, node, revision } from '../../../tests/kit/devicetemplate.ts';
import { line, says, wantedOf } from '../../../tests/kit/plans.ts';
import { complaintsAbout } from '../../../tests/kit/restricted.ts';
import { seen, unseen } from '../../../tests/kit/world.ts';
import { type DeviceTemplate, mark } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { conditionOf, type DaemonSet, Node } from '../../objects/index.ts';
import { isMapped, labelsOf, moduleName } from './module.ts';
import { viewOf } from './nodes.ts';
import { cut, revisionName } from './revision.ts';

const lamp = aTemplate();
const all = '!Revision +Module +DaemonSet';
const there = [revision(lamp), module(lamp), daemonSet(lamp)];
const kernels = [{ kernel: '5.14.*', image: 'registry.example/driver:5' }];
const mapped = aTemplate({ driver: { kernels } });
const second = aTemplate({ driver: { version: '2' } });

describe('privilege', () => {
  const refusedIn = (object: DeviceTemplate, world: Observed, ...privilegedImages: string[]) =>
    /The image (\S+) would/.exec(look(object, world, { allowed: { privilegedImages } }).status.message ?? '')?.[1];
  const refused = (object: DeviceTemplate, ...images: string[]) => refusedIn(object, seen(...there), ...images);
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
  test('of tags is not that of whatever stands behind them by digest', () => {
    const digest = `@sha256:${'a'.repeat(64)}`;
    const pinned = aTemplate({ plugin: `registry.example/plugin:1${digest}` });
    const allows = (entry: string) => refused(pinned, 'quay.io/chrisp262/pt-char-dev:*', entry) === undefined;
    for (const entry of ['registry.example/plugin:1*', 'registry.example/plu*', 'registry.example/plugin:1'])
      equal(allows(entry), false, entry);
    for (const entry of ['*', 'registry.example/*', 'registry.example/plugin:1@*', pinned.spec.plugin ?? ''])
      equal(allows(entry), true, entry);
  });
  test('is judged by what is rendered, whoever rendered it', () => {
    const evil = { name: 'evil', image: 'evil.example/a:1' };
    const { template, module: asked, ...rest } = cut(lamp, 1);
    const { container } = asked.moduleLoader;
    const pods = (spec: object) => ({
      ...rest,
      module: asked,
      template: { ...template, spec: { ...template.spec, ...spec } },
    });
    const told = (...mappings: object[]) => ({
      ...rest,
      template,
      module: { ...asked, moduleLoader: { container: { ...container, kernelMappings: mappings } } },
    });
    const judged = (data: object) => {
      const forged = { ...revision(lamp), data } as ReturnType<typeof revision>;
      return refusedIn(lamp, seen(forged, module(lamp), daemonSet(lamp)), 'quay.io/chrisp262/*');
    };
    // As the first revisions have it: they live on, whatever consumers are made of later.
    const securityContext = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    };
    const tame = { ...evil, securityContext };
    equal(judged(pods({ containers: [tame], initContainers: [tame] })), undefined);
    equal(judged(pods({ containers: [tame], volumes: [{ emptyDir: { medium: 'Memory' }, name: 'x' }] })), undefined);
    for (const more of [{ privileged: true }, { capabilities: { add: ['SYS_ADMIN'] } }, { runAsUser: 0 }])
      for (const list of ['containers', 'initContainers', 'ephemeralContainers'])
        equal(judged(pods({ [list]: [{ ...tame, securityContext: { ...securityContext, ...more } }] })), evil.image);
    for (const spec of [
      { containers: [evil] },
      { containers: [tame], hostPID: true },
      { containers: [tame], hostUsers: true },
      { containers: [tame], securityContext: { runAsUser: 0 } },
      { containers: [tame], volumes: [{ name: 'x', hostPath: { path: '/' } }] },
      { containers: [tame], volumes: [{ name: 'x', persistentVolumeClaim: { claimName: 'x' } }] },
      { containers: [{ ...tame, ports: [{ containerPort: 1, hostPort: 1 }] }] },
    ])
      equal(judged(pods(spec)), evil.image, JSON.stringify(spec));
    equal(judged(told({ regexp: '^.+$', containerImage: evil.image })), evil.image);
    equal(judged(told({ regexp: '^.+$', sign: { unsignedImage: evil.image } })), evil.image);
  });
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
  test('of nothing is that of an empty list', () => {
    const empty = aTemplate({ tolerations: [], driver: {} });
    equal(revisionName(empty), revisionName(aTemplate({ driver: {} })));
    deepEqual(cut(empty, 1), cut(aTemplate({ driver: {} }), 1));
  });
  test('without a Secret names none', () => ok(!JSON.stringify(cut(lamp, 1)).includes('ecret')));
  test('rolls consumers only where they change', () => {
    for (const spec of [{ maxdev: 3 }, { defaultmsg: 'x' }, { plugin: 'registry.example/p:2' }])
      equal(hash(aTemplate(spec)), hash(lamp), JSON.stringify(spec));
    for (const spec of [
      { selector: { other: 'x' } },
      { consumer: 'registry.example/c:2' },
      { requiredDevices: 2 },
      { imagePullSecret: secret },
    ])
      notEqual(hash(aTemplate(spec)), hash(lamp), JSON.stringify(spec));
  });
  test('keeps consumers to the nodes that are meant: KMM labels others, too, until it has unloaded', () =>
    deepEqual(cut(lamp, 1).template.spec.nodeSelector, lamp.spec.selector));
  test('pulls anew what moves by its name', () => {
    const policy = (image?: string) =>
      cut(aTemplate({ ...(image !== undefined && { consumer: image }) }), 1).template.spec.containers[0]?.[
        'imagePullPolicy'
      ];
    for (const image of [undefined, 'a:latest', 'a', 'a:nightly-latest']) equal(policy(image), 'Always', image);
    for (const image of ['a:1', `a:latest@sha256:${'a'.repeat(64)}`]) equal(policy(image), 'IfNotPresent', image);
  });
  test('has the same pods under whatever name', () => {
    const renamed = aTemplate({}, { name: 'other', namespace: 'elsewhere' });
    equal(hash(renamed), hash(lamp));
    notEqual(hash(second), hash(lamp));
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
  const plan = (object: DeviceTemplate, ...world: Parameters<typeof seen>) =>
    look(object, seen(module(first), ...world))
      .want.map(line)
      .join(' ');

  test('the consumers of a former version stay while nodes are told to load it, even where none of them is ready now', () => {
    for (const desired of [0, 1]) {
      equal(plan(second, daemonSet(first, desired), node(first, 'a'), node(second, 'b')), `${all} =DaemonSet`);
      equal(plan(second, daemonSet(first, desired), node(second, 'a'), node(second, 'b')), all);
    }
    equal(plan(lamp, daemonSet(first, 1), node(first, 'a')), all, 'and without versions none does');
    equal(plan(second, daemonSet(lamp, 3), node(lamp, 'a')), all, 'nor one that has no version');
  });
  test('and where nodes cannot be seen, until all that KMM counts have the new one: having none may be a plugin that restarts', () => {
    const moduleLoader = { nodesMatchingSelectorNumber: 2, availableNumber: 2 };
    const told = module(second, { moduleLoader, devicePlugin: { availableNumber: 2 } });
    const plans = (desired: number, ...ready: string[]) => {
      const pods = ready.map((name) => consumer(second, name));
      return look(second, seen(unseen(Node), told, daemonSet(first, desired), ...pods))
        .want.map(line)
        .join(' ');
    };
    equal(plans(1, 'a', 'b'), `${all} =DaemonSet`);
    equal(plans(0, 'a'), `${all} =DaemonSet`);
    equal(plans(0, 'a', 'b'), all);
    equal(plan(second, unseen(Node), daemonSet(first, 0)), `${all} =DaemonSet`, 'nobody has counted');
  });
  test('they leave nodes that are no longer meant, and nothing else of them changes', () => {
    const moved = aTemplate({ selector: { lamps: 'new' }, driver: { version: '2' } });
    const told = node(moved, 'a');
    Object.assign(told.foreign.metadata.labels ?? {}, { [labelsOf(moved).told]: '1' });
    const decision = look(moved, seen(module(moved), daemonSet(first), told));
    equal(decision.want.map(line).join(' '), `${all} +DaemonSet`);
    const [, stays] = wantedOf<DaemonSet>(decision, 'DaemonSet');
    const { spec } = daemonSet(first);
    const nodeSelector = moved.spec.selector;
    deepEqual(stays?.spec, { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, nodeSelector } } });
    equal(stays?.metadata.name, daemonSet(first).metadata.name);
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
    const hotter = { ...plain.metadata, labels: { ...plain.metadata.labels, 'example.com/heat': '3' } };
    deepEqual(
      changed((one) => ({ ...one, metadata: hotter })),
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
    driver: {
      kernels: [...kernels, ...['6.1.0+x', '6.2.0+'].map((kernel) => ({ kernel, image: 'registry.example/driver:6' }))],
    },
  });
  const { kernelMappings } = cut(object, 1).module.moduleLoader.container;
  deepEqual(
    kernelMappings.map(({ regexp, literal }) => regexp ?? literal),
    ['^5\\.14\\..*$', '6.1.0+x', '6.2.0'],
  );
  /** As KMM does it. */
  const told = (kernel: string) =>
    kernelMappings.some(({ regexp, literal }) =>
      regexp ? new RegExp(regexp).test(kernel.replace(/\+$/, '')) : literal === kernel.replace(/\+$/, ''),
    );
  for (const kernel of ['5.14.0-1', '5.140', '5.14', '5.14+', '6.1.0+x', '6.1.0', 'x5.14.1', '6.2.0', '6.2.0+'])
    equal(isMapped(object, kernel), told(kernel), kernel);
  ok(isMapped(object, '6.2.0+'));
  deepEqual(cut(lamp, 1).module.moduleLoader.container.kernelMappings[0]?.regexp, '^.+$');
});

test('a Module has a name that KMM takes, or none', () => {
  for (const space of [4, 22, 23, 24, 25, 31, 32, 33, 34, 63])
    for (const length of [1, 2, 8, 9, 10, 30, 63]) {
      const object = aTemplate({}, { name: 'l'.repeat(length), namespace: 'n'.repeat(space) });
      const { status } = look(object, seen(node(object, 'a')));
      const name = moduleName(object);
      const fits = space + name.length <= 40;
      match(name, /^[a-z]([-a-z0-9]*[a-z0-9])?$/);
      equal(conditionOf(status, 'Ready')?.reason === 'NameTooLong', !fits, `${space} and ${length}`);
      ok(fits || space + length + '-module'.length > 40, `${space} and ${length} need no shorter name`);
    }
  equal(moduleName(aTemplate({}, { name: 'lamp', namespace: 'n'.repeat(29) })), 'lamp-module');
  match(moduleName(aTemplate({}, { name: 'lamp', namespace: 'n'.repeat(30) })), /^l-module-/);
});
