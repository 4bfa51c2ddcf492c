// The life of a DeviceTemplate on the real API server, with simulated nodes and pods and a KMM that the test plays: one story a
// test, told from outside. What goes wrong with it is told in tests/faults.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { DeviceTemplate, mark } from '../../src/api/index.ts';
import {
  conditionOf,
  ControllerRevision,
  DaemonSet,
  type Kind,
  kstatusOf,
  type KubeObject,
  Module,
  moduleLabels,
  Node,
  Pod,
} from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import { kmmManifest } from '../kit/kmm/crd.ts';
import { type Kmm, offerDevices, playKmm } from '../kit/kmm/play.ts';
import type { RunningOperator } from '../kit/process.ts';
import { untilReady } from '../kit/ready.ts';
import { must, product, type Rig, startRig } from '../kit/rig.ts';

const nodes = ['node-1', 'node-2', 'node-3'];
let rig: Rig;
let kmm: Kmm;
let operator: RunningOperator;
before(async () => {
  rig = await startRig({ nodes: nodes.length }, product);
  const devices = { 'example.com/ptemplate': '1000', 'example.com/sensor': '1000' };
  for (const node of nodes) await offerDevices(rig.admin, node, devices);
  kmm = playKmm(rig.admin);
  operator = await rig.operator();
});
after(async () => {
  const forbidden = rig.proxy.trace.requests({}).filter(({ answer }) => answer?.status === 403);
  await kmm.stop();
  await rig.stop();
  deepEqual(forbidden, [], 'the generated roles are enough for every story');
});

const name = 'lamp';
const images = { consumer: 'registry.example/consumer:1', plugin: 'registry.example/plugin:1' };
const kubectl = (...args: string[]) => must(rig.plane, args);
const asked = (namespace: string, spec: object, metadata: object = {}) =>
  rig.apply(DeviceTemplate, { metadata: { namespace, name, ...metadata }, spec });
const get = (namespace: string) => rig.admin.get(DeviceTemplate, { namespace, name });
const ready = (namespace: string) => untilReady(() => get(namespace));

/** Labels nodes for a namespace alone, and answers with the selector. */
async function meant(namespace: string, ...which: string[]): Promise<Record<string, string>> {
  const label = `example.com/${namespace}`;
  for (const node of nodes) await kubectl('label', 'node', node, which.includes(node) ? `${label}=yes` : `${label}-`);
  return { [label]: 'yes' };
}

async function consumers(namespace: string): Promise<Record<string, string>> {
  const pods = await rig.list(Pod, namespace);
  return Object.fromEntries(
    pods
      .map(({ spec, metadata }): [string, string] => [spec.nodeName ?? '', metadata.uid ?? ''])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Nothing is on its way: KMM counts a moment after it has labelled, and a consumer may be ready before. */
const settled = (namespace: string, count: number) =>
  eventually(
    async () => {
      const { status } = await get(namespace);
      deepEqual(status?.nodes, { matching: count, loaded: count, plugged: count, ready: count }, status?.message);
      return true;
    },
    { within: 60_000, what: 'every node has a consumer of this version, and KMM has counted it' },
  );

const says = (namespace: string, reason: string): Promise<DeviceTemplate> =>
  eventually(
    async () => {
      const now = await get(namespace);
      deepEqual(
        [conditionOf(now.status, 'Ready')?.reason, now.status?.observedGeneration],
        [reason, now.metadata.generation],
      );
      return now;
    },
    { within: 60_000, what: `it says ${reason}` },
  );

function sample(path: string): DeviceTemplate {
  return parse(readFileSync(join(import.meta.dirname, '../../examples', path), 'utf8')) as DeviceTemplate;
}

test('without KMM it says so; KMM comes later, and the operator goes on by itself', async () => {
  const namespace = await rig.namespace();
  const selector = await meant(namespace, 'node-1');
  await asked(namespace, { ...sample('devicetemplate.yaml').spec, selector });
  const { status } = await says(namespace, 'ModuleAPIMissing');
  equal(conditionOf(status, 'Stalled')?.status, 'True');
  match(status?.message ?? '', /install Kernel Module Management/);
  equal((await rig.list(Pod, namespace)).length, 0);
  await must(rig.plane, ['apply', '-f', '-'], kmmManifest);
  await ready(namespace);
  deepEqual(Object.keys(await consumers(namespace)), ['node-1']);
  ok(operator.alive());
});

describe('a DeviceTemplate', { concurrency: 3 }, () => {
  test('the seed’s sample becomes Ready in either spelling, and changing the spelling restarts nothing', async () => {
    const namespace = await rig.namespace();
    const selector = await meant(namespace, 'node-1', 'node-2');
    const { consumerimage, imageRepoSecret, ...rest } = sample('devicetemplate.yaml').spec;
    await asked(namespace, { ...rest, consumerimage, imageRepoSecret, selector });
    await kubectl('-n', namespace, 'wait', '--for=condition=Ready', `dt/${name}`, '--timeout=60s');
    const { status } = await ready(namespace);
    await settled(namespace, 2);
    deepEqual(
      (await get(namespace)).status?.consumers?.map(({ node, state }) => [node, state]),
      [
        ['node-1', 'Ready'],
        ['node-2', 'Ready'],
      ],
    );
    equal(kstatusOf(await get(namespace)), 'Current');
    const { spec } = await rig.admin.get(Module, { namespace, name: status?.module ?? '' });
    deepEqual(spec.moduleLoader.container.modprobe.parameters, ['max_dev=5', 'default_msg=ptemplate']);
    deepEqual([spec.imageRepoSecret, spec.selector], [{ name: 'pt-char-pull-secret' }, selector]);
    const running = await consumers(namespace);
    await asked(namespace, { ...rest, consumer: consumerimage, imagePullSecret: imageRepoSecret, selector });
    const other = await ready(namespace);
    deepEqual([other.metadata.generation, other.status?.revision], [2, status?.revision]);
    await pause(1_000);
    deepEqual(await consumers(namespace), running);
  });

  test('a driver of one’s own changes from version to version, one node after another', async () => {
    const namespace = await rig.namespace();
    const selector = await meant(namespace, ...nodes);
    const { spec } = sample('devicetemplate-driver.yaml');
    const driver = { ...spec.driver, kernels: [{ kernel: '*', image: 'registry.example/driver:1' }] };
    const version = (value: string) =>
      asked(namespace, { ...spec, ...images, driver: { ...driver, version: value }, selector });
    const { told } = moduleLabels(namespace, `${name}-module`);
    const tell = (node: string, value: string) => kubectl('label', 'node', node, `${told}=${value}`, '--overwrite');
    await version('1');
    match(
      (await says(namespace, 'OtherVersion')).status?.message ?? '',
      new RegExp(`label it with ${told}=1; .*node-3`),
    );
    for (const node of nodes) await tell(node, '1');
    await settled(namespace, nodes.length);
    const former = await consumers(namespace);
    await version('2');
    await says(namespace, 'OtherVersion');
    await pause(2_000);
    deepEqual(await consumers(namespace), former, 'nothing happens before a node is told');
    equal((await rig.list(DaemonSet, namespace)).length, 2);
    await tell('node-2', '2');
    await eventually(async () => (await get(namespace)).status?.nodes?.ready === 1, { what: 'one node has version 2' });
    const between = await consumers(namespace);
    deepEqual([between['node-1'], between['node-3']], [former['node-1'], former['node-3']]);
    for (const node of nodes) await tell(node, '2');
    await settled(namespace, nodes.length);
    await eventually(async () => (await rig.list(DaemonSet, namespace)).length === 1, { what: 'the old consumers go' });
    equal(kstatusOf(await ready(namespace)), 'Current');
    const { version: _version, ...unversioned } = driver;
    const bare = { ...spec, ...images, driver: unversioned, selector };
    await rejects(asked(namespace, bare), /spec\.driver: .*delete.*apply it anew/);
  });

  test('an edit of the selector amid an upgrade takes the consumers of either version off the nodes that are no longer meant', async () => {
    const namespace = await rig.namespace();
    const all = await meant(namespace, ...nodes);
    const ask = (version: string, selector: Record<string, string>) =>
      asked(namespace, { ...images, driver: { version }, selector });
    const { told, loaded } = moduleLabels(namespace, `${name}-module`);
    const tell = (node: string, value: string) => kubectl('label', 'node', node, `${told}=${value}`, '--overwrite');
    for (const node of nodes) await tell(node, '1');
    await ask('1', all);
    await settled(namespace, nodes.length);
    await ask('2', all);
    await tell('node-1', '2');
    await eventually(async () => (await get(namespace)).status?.nodes?.ready === 1, { what: 'one node has version 2' });
    const few = { [`example.com/few-${namespace}`]: 'yes' };
    for (const node of ['node-1', 'node-2']) await kubectl('label', 'node', node, `${Object.keys(few)[0]}=yes`);
    await ask('2', few);
    const loadedOn = async () => {
      const { items } = await rig.admin.list(Node, undefined, { labelSelector: loaded });
      return items.map(({ metadata }) => metadata.name).toSorted();
    };
    await eventually(async () => (await loadedOn()).join() === 'node-1,node-2', { what: 'KMM could unload on node-3' });
    deepEqual(Object.keys(await consumers(namespace)), ['node-1', 'node-2']);
    equal((await rig.list(DaemonSet, namespace)).length, 2);
    await tell('node-2', '2');
    await eventually(async () => (await get(namespace)).status?.nodes?.ready === 2, { what: 'both have version 2' });
    await eventually(async () => (await rig.list(DaemonSet, namespace)).length === 1, { what: 'the old consumers go' });
  });

  test('reads well with kubectl', async () => {
    const namespace = await rig.namespace();
    await asked(namespace, { ...images, selector: await meant(namespace, 'node-3') });
    await ready(namespace);
    match(
      await kubectl('-n', namespace, 'get', 'dt'),
      /^NAME +PHASE +READY +REASON +NODES +CONSUMERS +AGE\nlamp +Ready +True +ConsumersReady +1 +1 /,
    );
    match(await kubectl('-n', namespace, 'get', 'baton'), /lamp/);
    const explained = await kubectl('explain', 'dt.spec');
    for (const field of ['maxdev', 'consumerimage', 'imageRepoSecret', 'driver', 'privileged'])
      match(explained, new RegExp(`^  ${field}\\t<\\S+>.*\\n    [A-Z]`, 'm'), field);
  });
});

describe('what makes no sense is refused, with the field and the way out', () => {
  const selector = { a: 'b' };
  const rows: [spec: object, words: RegExp][] = [
    [{}, /spec\.selector: Required value/],
    [{ selector: {} }, /spec\.selector: .*at least one label/],
    [{ selector, consumer: 'a', consumerimage: 'b' }, /spec\.consumerimage: .*another spelling of consumer/],
    [
      { selector, imagePullSecret: { name: 'a' }, imageRepoSecret: { name: 'a' } },
      /spec\.imageRepoSecret: .*another spelling/,
    ],
    [{ selector, maxdev: 6 }, /spec\.maxdev: .*driver\.kernels/],
    [{ selector, maxdev: 2, requiredDevices: 3 }, /spec\.requiredDevices: .*must not be greater than maxdev/],
    [{ selector, defaultmsg: 'x" max_dev=9' }, /spec\.defaultmsg/],
    [{ selector, driver: { parameters: ['--remove'] } }, /spec\.driver\.parameters/],
    [{ selector, driver: { kernels: [{ kernel: '(a+)+$', image: 'a' }] } }, /spec\.driver\.kernels\[0\]\.kernel/],
    [{ selector, driver: { kernels: [{ kernel: '+', image: 'a:1' }] } }, /spec\.driver\.kernels\[0\]\.kernel/],
    [{ selector, driver: { parameters: ['a=b', 'max_dev=99'] } }, /spec\.driver\.parameters: .*set maxdev/],
    [{ selector, defaultmsg: "' max_dev=99" }, /spec\.defaultmsg/],
    [{ selector, driver: { moduleName: '--remove' } }, /spec\.driver\.moduleName/],
    [
      { selector, driver: { kernels: [{ kernel: '*', image: 'a.example/driver' }] } },
      /image: .*with a tag or a digest/,
    ],
    [{ selector: { 'no blanks': 'x' } }, /spec\.selector: .*labels as keys/],
    [{ selector: { a: 'no blanks' } }, /spec\.selector\.a: /],
    [{ selector, resourceName: 'kubernetes.io/lamp' }, /spec\.resourceName: .*such as example\.com\/lamp/],
    [{ selector, resourceName: `example.com/${'n'.repeat(64)}` }, /spec\.resourceName: .*such as example\.com\/lamp/],
    [{ selector, tolerations: [{ value: 'x' }] }, /spec\.tolerations\[0\]\.operator: .*must be Exists/],
    [{ selector, consumers: 'a' }, /unknown field "spec\.consumers"/],
  ];
  for (const [spec, words] of rows)
    test(JSON.stringify(spec), async () => {
      const { apiVersion, kind } = DeviceTemplate;
      const text = JSON.stringify({ apiVersion, kind, metadata: { name }, spec });
      const args = ['-n', 'default', 'apply', '--dry-run=server', '--validate=strict', '-f', '-'];
      await rejects(must(rig.plane, args, text), words);
    });
});

test('another build of the operator restarts no consumer, and says Outdated until it is asked', async () => {
  const namespace = await rig.namespace();
  await asked(namespace, { ...images, selector: await meant(namespace, 'node-1', 'node-2') });
  await eventually(async () => (await get(namespace)).status?.nodes?.ready === 2);
  await pause(1_000);
  const kinds: Kind[] = [ControllerRevision, Module, DaemonSet, Pod];
  const children = async () =>
    (await Promise.all(kinds.map((kind): Promise<KubeObject[]> => rig.list(kind, namespace))))
      .flat()
      .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
  const outdated = async () => conditionOf((await get(namespace)).status, 'Outdated')?.status;
  const untouched = await children();
  await operator.kill();
  operator = await rig.operator({ build: 'another' });
  await eventually(async () => (await outdated()) === 'True', { what: 'it is outdated' });
  await pause(2_000);
  deepEqual(await children(), untouched);
  await kubectl('-n', namespace, 'annotate', `dt/${name}`, `${mark.refresh}=now`);
  await eventually(async () => (await outdated()) === 'False', { what: 'it is refreshed' });
  await eventually(async () => (await get(namespace)).status?.nodes?.ready === 2, {
    what: 'the consumers have rolled',
  });
});
