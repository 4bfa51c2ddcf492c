// Row 40: what goes wrong with devices. Each row has nodes of its own by a label, and a KMM that the test plays.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { DeviceTemplate } from '../../../src/api/index.ts';
import { DaemonSet, label, Module, moduleLabels, Node, Pod } from '../../../src/objects/index.ts';
import { kmmOf } from '../../kit/kmm/installed.ts';
import { offerDevices } from '../../kit/kmm/play.ts';
import { must } from '../../kit/rig.ts';
import type { Row, Scene } from './scene.ts';

type Stage = Scene<DeviceTemplate>;

export const nodes = ['node-1', 'node-2', 'node-3'];
const images = { consumer: 'registry.example/consumer:1', plugin: 'registry.example/plugin:1' };

/** One that is Ready on a node of which no row knows. */
export const healthy = { ...images, selector: { 'kubernetes.io/hostname': 'node-4' } };

const kubectl = ({ rig }: Stage, ...args: string[]) => must(rig.plane, args);

/** The nodes that are meant from now on, and the selector that means them. */
async function meant(scene: Stage, ...which: string[]): Promise<Record<string, string>> {
  const key = `example.com/${scene.namespace}`;
  for (const node of nodes)
    await kubectl(scene, 'label', 'node', node, which.includes(node) ? `${key}=yes` : `${key}-`);
  return { [key]: 'yes' };
}

/** The consumers of the row's own object that stay, by node. */
async function consumers({ rig, namespace, name }: Stage): Promise<Record<string, string>> {
  const pods = (await rig.list(Pod, namespace)).filter(
    ({ metadata }) => metadata.labels?.[label.name] === name && metadata.deletionTimestamp === undefined,
  );
  return Object.fromEntries(
    pods
      .map(({ spec, metadata }): [string, string] => [spec.nodeName ?? '', metadata.uid ?? ''])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const setKernel = ({ rig }: Stage, node: string, kernelVersion: string) => {
  const how = { type: 'merge', manager: 'kubelet', subresource: 'status' } as const;
  return rig.admin.patch(Node, { namespace: '', name: node }, { status: { nodeInfo: { kernelVersion } } }, how);
};

const noSecret: Row<DeviceTemplate> = {
  name: '40: without a pull secret nothing is missed, and with one both get it',
  async play(scene) {
    const selector = await meant(scene, 'node-1');
    await scene.ask({ ...images, selector });
    await scene.ready();
    await scene.ask({ ...images, selector, imageRepoSecret: { name: 'pull' } });
    await scene.ready();
    const { rig, namespace, name } = scene;
    const { spec } = await rig.admin.get(Module, { namespace, name: `${name}-module` });
    deepEqual(spec.imageRepoSecret, { name: 'pull' });
    const set = await rig.admin.get(DaemonSet, { namespace, name: `${name}-consumer` });
    deepEqual(set.spec.template.spec['imagePullSecrets'], [{ name: 'pull' }]);
  },
};

const noNodes: Row<DeviceTemplate> = {
  name: '40: a selector that means no node says so, and a node that comes to be meant is enough',
  async play(scene) {
    await scene.ask({ ...images, selector: await meant(scene) });
    await scene.holds('Stalled', { status: 'True', reason: 'NoMatchingNodes' });
    await meant(scene, 'node-2');
    await scene.ready();
    deepEqual(Object.keys(await consumers(scene)), ['node-2']);
  },
};

const controlPlane: Row<DeviceTemplate> = {
  name: '40: control-plane nodes are not used unless their taint is tolerated',
  async play(scene) {
    const selector = await meant(scene, 'node-3');
    const taint = 'node-role.kubernetes.io/control-plane';
    await kubectl(scene, 'taint', 'node', 'node-3', `${taint}=:NoSchedule`);
    try {
      await scene.ask({ ...images, selector });
      await scene.holds('Stalled', { status: 'True', reason: 'NoMatchingNodes' });
      await scene.says(new RegExp(`node-3 has the taint ${taint}:NoSchedule; name it in tolerations`));
      deepEqual(await consumers(scene), {});
      await scene.ask({ ...images, selector, tolerations: [{ key: taint, operator: 'Exists' }] });
      await scene.ready();
    } finally {
      await kubectl(scene, 'taint', 'node', 'node-3', `${taint}-`);
    }
  },
};

const noKernel: Row<DeviceTemplate> = {
  name: '40: a kernel for which there is no image is told, and the image that is named then is used',
  async play(scene) {
    const selector = await meant(scene, 'node-2');
    await setKernel(scene, 'node-2', '5.14.0-427.el9');
    const { broken } = kmmOf(scene.rig);
    broken.add('node-2'); // without an image nothing can be loaded
    const other = { kernel: '6.*', image: 'registry.example/driver:6' };
    try {
      await scene.ask({ ...images, selector, driver: { kernels: [other] } });
      await scene.holds('Stalled', { status: 'True', reason: 'KernelNotMapped' });
      await scene.says(/node-2 runs the kernel 5\.14\.0-427\.el9, for which driver\.kernels names no image/);
      broken.delete('node-2');
      const kernels = [{ kernel: '5.14.*', image: 'registry.example/driver:5' }, other];
      await scene.ask({ ...images, selector, driver: { kernels } });
      await scene.ready();
    } finally {
      broken.delete('node-2');
      await setKernel(scene, 'node-2', '');
    }
  },
};

const oneFails: Row<DeviceTemplate> = {
  name: '40: one node of many that does not load is named, and the others go on',
  async play(scene) {
    const { broken } = kmmOf(scene.rig);
    const selector = await meant(scene, ...nodes);
    broken.add('node-2');
    try {
      await scene.ask({ ...images, selector });
      const { status } = await scene.ready();
      await scene.says(/^2 of 3 nodes are ready: node-2 has not loaded the module; NodeModulesConfig node-2/);
      equal(status?.nodes?.matching, 3);
      deepEqual(Object.keys(await consumers(scene)), ['node-1', 'node-3']);
    } finally {
      broken.delete('node-2');
    }
    await scene.holds('Reconciling', { status: 'False' });
    equal(Object.keys(await consumers(scene)).length, 3);
  },
};

const imageEdit: Row<DeviceTemplate> = {
  name: '40: another image converges; after an edit of the selector consumers leave the nodes that are no longer meant, and KMM unloads there',
  async play(scene) {
    const selector = await meant(scene, 'node-1', 'node-2');
    await scene.ask({ ...images, selector });
    await scene.holds('Reconciling', { status: 'False' });
    const first = await consumers(scene);
    await scene.ask({ ...images, consumer: 'registry.example/consumer:2', selector });
    await scene.holds('Reconciling', { status: 'False' });
    const second = await consumers(scene);
    ok(
      Object.entries(second).every(([node, uid]) => first[node] !== uid),
      'all were replaced',
    );
    const elsewhere = { [`example.com/other-${scene.namespace}`]: 'yes' };
    for (const node of ['node-2', 'node-3'])
      await kubectl(scene, 'label', 'node', node, `${Object.keys(elsewhere)[0]}=yes`);
    await scene.ask({ ...images, consumer: 'registry.example/consumer:2', selector: elsewhere });
    await scene.wait(async () => Object.keys(await consumers(scene)).join() === 'node-2,node-3', 'consumers move');
    await scene.wait(async () => !(await isLoaded(scene, 'node-1')), 'the module is unloaded where it is not meant');
    await scene.holds('Reconciling', { status: 'False' });
    ok(await isLoaded(scene, 'node-2'));
  },
};

/** Whether KMM says that a node has the module of the row's own object. */
async function isLoaded({ rig, namespace, name }: Stage, node: string): Promise<boolean> {
  const { metadata } = await rig.admin.get(Node, { namespace: '', name: node });
  return moduleLabels(namespace, `${name}-module`).loaded in (metadata.labels ?? {});
}

const inUse: Row<DeviceTemplate> = {
  name: '40: deleted while devices are in use, the module stays until the last consumer has gone, and a new one waits for that',
  async play(scene) {
    const { rig, namespace, name } = scene;
    const selector = await meant(scene, 'node-1');
    await scene.ask({ ...images, selector });
    await scene.ready();
    const [pod = ''] = (await rig.list(Pod, namespace))
      .filter(({ metadata }) => metadata.labels?.[label.name] === name)
      .map(({ metadata }) => metadata.name);
    const hold = (finalizers: string[]) =>
      rig.admin.patch(
        Pod,
        { namespace, name: pod },
        { metadata: { finalizers } },
        { type: 'merge', manager: 'kubelet' },
      );
    await hold(['example.com/device-is-open']);
    await rig.admin.delete(scene.lane.subject.kind, { namespace, name });
    const module = () => rig.get(Module, namespace, `${name}-module`);
    await scene.wait(async () => (await module())?.metadata.deletionTimestamp !== undefined, 'the Module is to go');
    equal(await rig.get(scene.lane.subject.kind, namespace, name), undefined, 'the object itself is not held');
    await scene.ask({ ...images, selector });
    await pause(1_000);
    ok((await module())?.metadata.deletionTimestamp, 'the module is still loaded');
    await hold([]);
    await scene.ready();
    equal((await module())?.metadata.deletionTimestamp, undefined);
  },
};

const privilege: Row<DeviceTemplate> = {
  name: '40: an image that nobody allowed does not run with the rights of a node, and what is allowed runs',
  async play(scene) {
    const { rig, namespace } = scene;
    const selector = await meant(scene, 'node-1');
    const evil = 'evil.example/consumer:1';
    for (const spec of [
      { consumer: evil, privileged: true },
      { plugin: evil },
      { driver: { kernels: [{ kernel: '*', image: evil }] } },
    ]) {
      await scene.ask({ ...images, selector, ...spec });
      await scene.holds('Stalled', { status: 'True', reason: 'ImageNotAllowed' });
      await scene.says(/^The image evil\.example\/consumer:1 would run with the rights of the node/);
    }
    const own = ({ metadata }: Module) => metadata.labels?.[label.name] === scene.name;
    deepEqual((await rig.list(Module, namespace)).filter(own), [], 'nothing was made');
    await scene.ask({ ...images, consumer: evil, selector });
    await scene.ready();
    const pods = await rig.list(Pod, namespace);
    ok(!JSON.stringify(pods).includes('"privileged":true'));
    await scene.ask({ ...images, selector, privileged: true });
    await scene.ready();
  },
};

const tooMany: Row<DeviceTemplate> = {
  name: '40: more devices than a node has are told in the words of the scheduler, and asking for fewer helps at once',
  async play(scene) {
    const selector = await meant(scene, 'node-1');
    const driver = { kernels: [{ kernel: '*', image: 'registry.example/driver:1' }] };
    const rare = `example.com/rare-${scene.namespace}`;
    const asked = { ...images, selector, driver, maxdev: 8, resourceName: rare };
    await offerDevices(scene.rig.admin, 'node-1', { [rare]: '4' });
    await scene.ask({ ...asked, requiredDevices: 8 });
    await scene.holds('Ready', { status: 'False', reason: 'Unschedulable' });
    await scene.says(/^0 of 1 nodes are ready: node-1: .*Insufficient example\.com\/rare-/);
    await scene.ask({ ...asked, requiredDevices: 4 });
    await scene.ready();
  },
};

const stranger: Row<DeviceTemplate> = {
  name: '40: a Module of somebody else under the name is left alone, and when it goes, ours comes',
  refused: Module.plural,
  async play(scene) {
    const { rig, namespace, name } = scene;
    const selector = await meant(scene, 'node-1');
    const container = {
      modprobe: { moduleName: 'theirs' },
      kernelMappings: [{ regexp: '^.+$', containerImage: 'theirs:1' }],
    };
    const metadata = { namespace, name: `${name}-module` };
    await rig.apply(Module, { metadata, spec: { moduleLoader: { container }, selector: { none: 'x' } } });
    await scene.ask({ ...images, selector });
    const { status } = await scene.holds('Stalled', { status: 'True', reason: 'OwnershipConflict' });
    match(status?.message ?? '', new RegExp(`^Module ${name}-module exists already`));
    equal((await rig.admin.get(Module, metadata)).spec.moduleLoader.container.modprobe.moduleName, 'theirs');
    await rig.admin.delete(Module, metadata);
    await scene.ready();
  },
};

export const deviceRows: readonly Row<DeviceTemplate>[] = [
  noSecret,
  noNodes,
  controlPlane,
  noKernel,
  oneFails,
  imageEdit,
  inUse,
  privilege,
  tooMany,
  stranger,
];
