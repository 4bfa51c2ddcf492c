// What the campaign must know of a DeviceTemplate: see ../meaning.ts.

import { DeviceTemplate, mark } from '../../../src/api/index.ts';
import { cut } from '../../../src/controllers/devicetemplate/index.ts';
import { ControllerRevision, DaemonSet, type Kind, Module, Pod } from '../../../src/objects/index.ts';
import { withKmm } from '../../kit/kmm/installed.ts';
import { answers } from '../../kit/servers.ts';
import type { World } from '../../kit/subject.ts';
import type { Meanings, Shows } from '../meaning.ts';
import { furnish } from '../mlmodel/furnish.ts';
import { asking } from '../podfields.ts';
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
    return value === undefined ? found.length === 0 : found[0] === `${name}=${value as string | number}`;
  };

const container = (parent: DeviceTemplate, now: World) => consumersOf(parent, now)?.spec.template.spec.containers[0];

/** Whether consumers get as many of these devices as are asked for. */
const devices: Shows<DeviceTemplate> = (_value, { parent, now }) => {
  const { resourceName, requiredDevices } = parent.spec;
  const { limits } = (container(parent, now)?.['resources'] ?? {}) as { limits?: Record<string, string> };
  return limits?.[resourceName] === String(requiredDevices);
};

const kernel: Shows<DeviceTemplate> = (_value, { parent, now }) => {
  const mappings = moduleOf(parent, now)?.spec.moduleLoader.container.kernelMappings ?? [];
  const asked = parent.spec.driver?.kernels ?? [{ kernel: '*' }];
  return (
    mappings.length === asked.length &&
    mappings.every(({ literal, regexp }, index) => {
      const { kernel: pattern = '' } = asked[index] ?? {};
      return pattern.endsWith('*') ? regexp !== undefined : literal === pattern;
    })
  );
};

const privileged: Shows<DeviceTemplate> = (value = false, { parent, now }) =>
  JSON.stringify(container(parent, now) ?? {}).includes('"privileged":true') === value;

/** What Ready promises. */
function lacks(parent: DeviceTemplate, now: World): string[] {
  const { matching = 0, ready = 0 } = parent.status?.nodes ?? {};
  const hash = cut(parent, 1).template.metadata?.labels?.[mark.revision];
  const answering = now
    .all(Pod)
    .filter((pod) => isOf(parent)(pod) && answers(pod) && pod.metadata.labels?.[mark.revision] === hash);
  const least = matching > 1 ? matching - 1 : 1;
  return [
    ...(moduleOf(parent, now) ? [] : ['it has no Module']),
    ...(ready >= least ? [] : [`it says Ready with ${ready} of ${matching} nodes`]),
    ...(answering.length >= least ? [] : [`${answering.length} consumers answer on ${matching} nodes`]),
  ];
}

const isOfDaemonSet = (path: string): boolean => /^spec\.(consumer|image|tolerations)/.test(path);
const isOfModule = (path: string): boolean => /^spec\.(selector|plugin|deviceplugin|driver)/.test(path);

/** What a DeviceTemplate means. */
export const devicetemplate: Meanings<DeviceTemplate> = {
  kind: DeviceTemplate,
  installed: { ...withKmm, options: { privilegedImages: ['*'] } },
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
  },
  examples,
  breaks: {
    'must be the name of an image: registry.example/team/image:tag': asking({ plugin: 'Not An Image' }),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the words of the rule
    'must be the name of an image: registry.example/team/driver:tag; the tag may contain ${KERNEL_FULL_VERSION}':
      asking({
        driver: { kernels: [{ kernel: '*', image: 'Not An Image' }] },
      }),
    'must name at least one label, or every node would be meant': asking({ selector: {} }),
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
    'spec.maxdev': parameter('max_dev', 5),
    'spec.defaultmsg': parameter('default_msg'),
    'spec.requiredDevices': devices,
    'spec.resourceName': devices,
    'spec.driver.kernels[].kernel': kernel,
    'spec.privileged': privileged,
  },
  bearers: (path): readonly Kind[] => (isOfDaemonSet(path) ? [DaemonSet] : isOfModule(path) ? [Module] : []),
  lacks,
  isRemembered: () => false,
  masks: [
    { field: 'DaemonSet metadata.generation', because: 'counts the edits' },
    { field: 'DaemonSet metadata.annotations.deprecated.daemonset.template.generation', because: 'the same' },
    { field: 'Module metadata.generation', because: 'the same' },
    { field: 'ControllerRevision revision', because: 'counts the revisions' },
    { field: 'DeviceTemplate status.consumers', because: 'names pods, which chance names' },
  ],
  outlives: () => false,
};
