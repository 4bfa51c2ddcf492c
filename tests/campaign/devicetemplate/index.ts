// What the campaign must know of a DeviceTemplate: see ../meaning.ts.

import { DeviceTemplate, mark } from '../../../src/api/index.ts';
import { canonical } from '../../../src/base/index.ts';
import { cut, revisionName } from '../../../src/controllers/devicetemplate/index.ts';
import {
  controllerOf,
  ControllerRevision,
  DaemonSet,
  isOfKind,
  type Kind,
  Module,
  Pod,
} from '../../../src/objects/index.ts';
import { kmmOf, withKmm } from '../../kit/kmm/installed.ts';
import type { Rig } from '../../kit/rig.ts';
import { answers } from '../../kit/servers.ts';
import type { World } from '../../kit/subject.ts';
import type { Meanings, Shows } from '../meaning.ts';
import { furnish } from '../mlmodel/furnish.ts';
import { asking, tolerationBreaks, tolerationWith } from '../podfields.ts';
import { isOf } from '../servers.ts';
import { bases, examples, few, means, plenty, values, without } from './values.ts';

const moduleOf = (parent: DeviceTemplate, now: World): Module | undefined => now.all(Module).find(isOf(parent));
const consumersOf = (parent: DeviceTemplate, now: World): DaemonSet | undefined =>
  now.all(DaemonSet).find((set) => isOf(parent)(set) && set.metadata.name === parent.status?.daemonSet);

/** Whether a parameter of the module is as asked. */
const parameter =
  (name: string, initial?: number): Shows<DeviceTemplate> =>
  (value = initial, { parent, now }) => {
    const told = moduleOf(parent, now)?.spec.moduleLoader.container.modprobe.parameters ?? [];
    const found = told.filter((one) => one.startsWith(`${name}=`));
    const wanted = value === undefined ? [] : [`${name}=${value as string | number}`];
    return canonical(found) === canonical(wanted);
  };

const container = (parent: DeviceTemplate, now: World) => consumersOf(parent, now)?.spec.template.spec.containers[0];

/** Whether consumers get as many of these devices as are asked for. */
const devices: Shows<DeviceTemplate> = (_value, { parent, now }) => {
  const { resourceName, requiredDevices } = parent.spec;
  const { limits } = (container(parent, now)?.['resources'] ?? {}) as { limits?: Record<string, string> };
  return limits?.[resourceName] === String(requiredDevices);
};

/** Whether KMM is told these kernels and their images, in this order. */
const kernel: Shows<DeviceTemplate> = (_value, { parent, now }) => {
  const mappings = moduleOf(parent, now)?.spec.moduleLoader.container.kernelMappings ?? [];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: KMM puts the kernel of each node there
  const seeds = [{ kernel: '*', image: 'quay.io/chrisp262/pt-char-dev:${KERNEL_FULL_VERSION}-sb' }];
  const told = (parent.spec.driver?.kernels ?? seeds).map(({ kernel: name, image: containerImage }) => {
    if (!name.endsWith('*')) return { literal: name.replace(/[+]$/, ''), containerImage };
    const begin = name.slice(0, -1).replaceAll('.', '\\.').replaceAll('+', '\\+');
    return { regexp: name === '*' ? '^.+$' : `^${begin}.*$`, containerImage };
  });
  return canonical(mappings) === canonical(told);
};

const privileged: Shows<DeviceTemplate> = (value = false, { parent, now }) =>
  JSON.stringify(container(parent, now) ?? {}).includes('"privileged":true') === value;

/** What Ready promises. */
function lacks(parent: DeviceTemplate, now: World): string[] {
  const { matching = 0, ready = 0 } = parent.status?.nodes ?? {};
  const hash = cut(parent, 1).template.metadata?.labels?.[mark.revision];
  const meant = new Set(parent.status?.consumers?.map(({ node }) => node));
  const all = now.all(Pod).filter((pod) => isOf(parent)(pod) && answers(pod) && meant.has(pod.spec.nodeName ?? ''));
  const answering = all.filter(({ metadata }) => metadata.labels?.[mark.revision] === hash);
  const least = matching > 1 ? matching - 1 : 1;
  return [
    ...(moduleOf(parent, now) ? [] : ['it has no Module']),
    ...(ready >= least ? [] : [`it says Ready with ${ready} of ${matching} nodes`]),
    ...(answering.length >= least ? [] : [`${answering.length} consumers answer on ${matching} nodes`]),
    ...(all.length === answering.length ? [] : ['consumers of another revision are still there']),
  ];
}

const isOfDaemonSet = (path: string): boolean => /^spec\.(consumer|image|tolerations)/.test(path);
const isOfModule = (path: string): boolean => /^spec\.(plugin|deviceplugin|driver)/.test(path);

/** Whether KMM and the consumers are told the same nodes. */
const selector: Shows<DeviceTemplate> = (_value, { parent, now }) => {
  const pods = consumersOf(parent, now)?.spec.template.spec;
  return [moduleOf(parent, now)?.spec.selector, pods?.nodeSelector].every(
    (one) => canonical(one ?? {}) === canonical(parent.spec.selector),
  );
};

/** KMM with a person who tells every node at once which version to load. */
async function prepare(rig: Rig): Promise<() => Promise<void>> {
  const stop = await withKmm.prepare?.(rig);
  kmmOf(rig).hasty = true;
  return async () => stop?.();
}

/** What a DeviceTemplate means. */
export const devicetemplate: Meanings<DeviceTemplate> = {
  kind: DeviceTemplate,
  installed: { ...withKmm, prepare, options: { privilegedImages: ['*'] } },
  children: [ControllerRevision, Module, DaemonSet],
  bases,
  furnish,
  means,
  values,
  annotations: { [mark.refresh]: ['1', '2'], 'example.com/note': ['x'] },
  isDear: () => false,
  with: {
    'spec.consumer': without('consumerimage'),
    'spec.consumerimage': without('consumer'),
    'spec.plugin': without('deviceplugin'),
    'spec.deviceplugin': without('plugin'),
    'spec.imagePullSecret': without('imageRepoSecret'),
    'spec.imagePullSecret.name': without('imageRepoSecret'),
    'spec.imageRepoSecret': without('imagePullSecret'),
    'spec.imageRepoSecret.name': without('imagePullSecret'),
    'spec.maxdev': few,
    'spec.requiredDevices': plenty,
    ...tolerationWith,
  },
  examples,
  breaks: {
    'must be the name of an image: registry.example/team/image:tag': asking({
      consumer: 'Not An Image',
      consumerimage: 'Not An Image',
      plugin: 'Not An Image',
      deviceplugin: 'Not An Image',
    }),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the words of the rule
    'must be the name of an image with a tag or a digest: registry.example/team/driver:tag; the tag may contain ${KERNEL_FULL_VERSION}':
      asking({
        driver: { kernels: [{ kernel: '*', image: 'registry.example/driver' }] },
      }),
    'must name at least one label, or every node would be meant': asking({ selector: {} }),
    'must have labels as keys, such as team or example.com/team': asking({ selector: { 'no blanks': 'x' } }),
    'must be the name of a device, such as example.com/lamp; those under kubernetes.io are of Kubernetes itself':
      asking({ resourceName: 'kubernetes.io/lamp' }),
    'must not name max_dev and default_msg: set maxdev and defaultmsg of the spec instead': asking({
      driver: { parameters: ['a=b', 'max_dev=99'] },
    }),
    ...tolerationBreaks,
    'must not get or lose a version, which KMM does not let a Module do: delete the DeviceTemplate and apply it anew': (
      document,
    ) => ({ ...asking({ driver: { version: '1' } })(document), former: document.spec }),
    'is another spelling of consumer: name one of the two': asking({ consumer: 'a', consumerimage: 'a' }),
    'is another spelling of plugin: name one of the two': asking({ plugin: 'a', deviceplugin: 'a' }),
    'is another spelling of imagePullSecret: name one of the two': asking({
      imagePullSecret: { name: 'a' },
      imageRepoSecret: { name: 'a' },
    }),
    'must not be greater than maxdev: no node has more devices': asking({ maxdev: 1, requiredDevices: 2 }),
    'must not be greater than 5 with the default driver, which has room for no more: name one in driver.kernels':
      asking({
        maxdev: 6,
        driver: {},
      }),
  },
  shows: {
    'spec.selector{}': selector,
    'spec.maxdev': parameter('max_dev', 5),
    'spec.defaultmsg': parameter('default_msg'),
    'spec.requiredDevices': devices,
    'spec.resourceName': devices,
    'spec.driver.kernels[].kernel': kernel,
    'spec.driver.kernels[].image': kernel,
    'spec.privileged': privileged,
  },
  bearers: (path): readonly Kind[] => (isOfDaemonSet(path) ? [DaemonSet] : isOfModule(path) ? [Module] : []),
  isTold: (parent) => parent.status?.revision === revisionName(parent),
  lacks,
  // A DaemonSet keeps the templates that it had before.
  isRemembered: (child) => isOfKind(child, ControllerRevision) && controllerOf(child)?.kind === DaemonSet.kind,
  masks: [
    { field: 'DaemonSet metadata.generation', because: 'counts the edits' },
    { field: 'DaemonSet metadata.annotations.deprecated.daemonset.template.generation', because: 'the same' },
    { field: 'Module metadata.generation', because: 'the same' },
    { field: 'ControllerRevision revision', because: 'counts the revisions' },
    { field: 'DeviceTemplate status.consumers', because: 'names pods, which chance names' },
  ],
  outlives: () => false,
};
