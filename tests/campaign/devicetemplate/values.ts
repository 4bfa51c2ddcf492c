// Documents from which walks begin, and what people write into the fields of a DeviceTemplate.

import type { DeviceTemplate } from '../../../src/api/index.ts';
import type { Document, Meanings } from '../meaning.ts';
import { podExamples, podMeans, podValues } from '../podfields.ts';
import type { Json } from '../property.ts';
import { furniture } from '../words.ts';

const everywhere = { 'kubernetes.io/os': 'linux' };
const images = { consumer: 'registry.example/consumer:1', plugin: 'registry.example/plugin:1' };
const kernels = [{ kernel: '*', image: 'registry.example/driver:1' }];

/** The first is what refusals are told of; the last is one of those with a version, which never lose it. */
export const bases: Document[] = [
  { spec: { ...images, selector: everywhere } },
  { spec: { consumerimage: images.consumer, selector: { 'kubernetes.io/hostname': 'node-1' }, defaultmsg: 'hello' } },
  {
    spec: {
      ...images,
      selector: everywhere,
      driver: { kernels, parameters: ['a=b'] },
      imagePullSecret: { name: furniture.secret },
    },
  },
  { spec: { ...images, selector: everywhere, driver: { kernels, version: '1' } } },
];

/** What the tables of pods know about tolerations, which is all that is here of their fields. */
const ofTolerations = <T>(table: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(table).filter(([path]) => path.startsWith('spec.tolerations')));

export const means: Meanings['means'] = {
  'spec.selector{}': 'label',
  'spec.consumer': 'image',
  'spec.consumerimage': 'image',
  'spec.plugin': 'image',
  'spec.deviceplugin': 'image',
  'spec.imagePullSecret.name': 'secret',
  'spec.imageRepoSecret.name': 'secret',
  'spec.driver.kernels[].image': 'image',
  ...ofTolerations(podMeans),
};

export const values: Meanings['values'] = {
  'spec.selector': [everywhere, { 'kubernetes.io/hostname': 'node-2' }, { nobody: 'x' }, {}],
  'spec.selector{}': ['node-1', 'node-2', 'linux'],
  'spec.maxdev': [1, 4, 5],
  'spec.requiredDevices': [1, 2, 5],
  'spec.defaultmsg': ['', 'x y', 'a=b', '"quoted"', "' max_dev=99", 'm'.repeat(99)],
  'spec.resourceName': [
    'example.com/ptemplate',
    'example.com/none',
    'noslash',
    'kubernetes.io/lamp',
    'requests.example.com/a',
    `example.com/${'n'.repeat(64)}`,
  ],
  'spec.imagePullSecret': [{ name: furniture.secret }],
  'spec.imageRepoSecret': [{ name: furniture.secret }],
  'spec.driver': [{}, { kernels }, { version: '2' }],
  'spec.driver.kernels': [kernels, [{ kernel: '5.14.*', image: 'registry.example/driver:5' }], []],
  'spec.driver.kernels[].kernel': ['*', '5.14.0-427.el9', '6.*', '+', '(a+)+$'],
  'spec.driver.parameters': [['rate=100'], []],
  'spec.driver.parameters[]': ['rate=100', 'name=', '--remove', 'a b=c', 'max_dev=99', 'default_msg=x'],
  'spec.driver.moduleName': ['--remove', '_x-y'],
  'spec.driver.version': ['1', '2.0-rc.1', '-x'],
  'spec.privileged': [true, false],
  ...ofTolerations(podValues),
};

export const examples: Meanings['examples'] = {
  'spec.selector': [everywhere],
  'spec.imagePullSecret': [{ name: furniture.secret }],
  'spec.imageRepoSecret': [{ name: furniture.secret }],
  'spec.driver': [{ kernels }],
  'spec.driver.kernels': [kernels],
  'spec.driver.kernels[]': kernels,
  'spec.driver.parameters': [['rate=100']],
  ...ofTolerations(podExamples),
};

type Spec = Partial<DeviceTemplate['spec']>;

/** One spelling stands without the other. */
export const without =
  (other: keyof Spec) =>
  (spec: Json): Json => {
    const { [other]: _other, ...rest } = spec as Spec;
    return rest;
  };

/** More devices need a driver that has room for them. */
export const roomy = (spec: Json): Json => ({ ...(spec as Spec), driver: { ...(spec as Spec).driver, kernels } });

/** And a node cannot have fewer than are asked for. */
export const plenty = (spec: Json): Json => ({ ...(roomy(spec) as Spec), maxdev: 1_024 });

/** What is asked of a device is little. */
export const few = (spec: Json): Json => ({ ...(roomy(spec) as Spec), requiredDevices: 1 });
