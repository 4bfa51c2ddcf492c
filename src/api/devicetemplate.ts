// DeviceTemplate: a kernel module and the plugin of its devices, brought to nodes by KMM, and pods that use those devices. Its
// seed has two spellings of three fields: one in its schema and one in its documentation. Both are taken, never both at once.

import * as z from 'zod';
import {
  commonStatus,
  defineKind,
  labelMap,
  listMap,
  objectName,
  type ObjectOf,
  type StatusOf,
  withRules,
} from '../schema/index.ts';
import { imageName, kernelImageName } from './images.ts';
import { podFields } from './podfields.ts';

const image = () => imageName('must be the name of an image: registry.example/team/image:tag');
const secret = () =>
  z.object({ name: objectName().describe('The name of a Secret in the same namespace.') }).optional();

const kernels = listMap(
  'kernel',
  z.object({
    kernel: z
      .string()
      .min(1)
      .max(64)
      // KMM takes no notice of a `+` at the end, and no kernel of which nothing is left.
      .regex(/^([A-Za-z0-9._+~-]*[*]|[A-Za-z0-9._+~-]*[A-Za-z0-9._~-][+]*)$/)
      .describe('The version of a kernel as `uname -r` tells it, or how it begins with `*` behind that.'),
    image: kernelImageName(
      'must be the name of an image with a tag or a digest: registry.example/team/driver:tag; the tag may contain ${KERNEL_FULL_VERSION}',
    ).describe('The image that holds the module for these kernels.'),
  }),
  16,
);

const driver = z.object({
  moduleName: z
    .string()
    .min(1)
    .max(55)
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_-]*$/)
    .optional()
    .describe('The name of the module; `ptemplate_char_dev` if left out.'),
  kernels: kernels.min(1).optional().describe('Images by kernel; the first that fits counts.'),
  parameters: withRules(
    z
      .array(
        z
          .string()
          .max(256)
          .regex(/^[A-Za-z0-9_]+=[!#-~]*$/),
      )
      .max(16),
    {
      rule: "self.all(one, !one.startsWith('max_dev=') && !one.startsWith('default_msg='))",
      message: 'must not name max_dev and default_msg: set maxdev and defaultmsg of the spec instead',
    },
  )
    .optional()
    .describe('Further parameters of the module, as `name=value`.'),
  version: z
    .string()
    .max(63)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/)
    .optional()
    .describe('The version of the driver: then a node loads it when it is labelled with it, one node after another.'),
});

const spec = z.object({
  selector: withRules(labelMap(16), {
    rule: 'self.size() > 0',
    message: 'must name at least one label, or every node would be meant',
  }).describe('Labels of the nodes that have such devices.'),
  maxdev: z.int32().min(1).max(1_024).default(5).describe('How many devices the module makes (`max_dev`).'),
  defaultmsg: z
    .string()
    .max(99)
    .regex(/^[ !#-&(-~]*$/)
    .optional()
    .describe('What a device says at first (`default_msg`); without quotes.'),
  requiredDevices: z.int32().min(1).max(1_024).default(1).describe('How many devices each consumer gets.'),
  resourceName: withRules(z.string().max(253), {
    rule: "self.contains('/') && !self.contains('kubernetes.io/') && !self.startsWith('requests.') && !format.qualifiedName().validate('requests.' + self).hasValue()",
    message:
      'must be the name of a device, such as example.com/lamp; those under kubernetes.io are of Kubernetes itself',
  })
    .default('example.com/ptemplate')
    .describe('The name under which the plugin offers the devices.'),
  consumer: image().optional().describe('The image of the consumers.'),
  consumerimage: image().optional().describe('Another spelling of `consumer`.'),
  plugin: image().optional().describe('The image of the device plugin.'),
  deviceplugin: image().optional().describe('Another spelling of `plugin`.'),
  imagePullSecret: secret().describe('The Secret with which driver, plugin and consumers are pulled.'),
  imageRepoSecret: secret().describe('Another spelling of `imagePullSecret`.'),
  driver: driver.optional().describe('The kernel module; that of the seed if left out.'),
  privileged: z
    .boolean()
    .default(false)
    .describe(
      "Whether consumers run privileged, with the node's /dev at /hostdev; needs an image of the setting privilegedImages.",
    ),
  tolerations: podFields.tolerations.describe(
    'Taints of nodes that the driver, the plugin and the consumers tolerate.',
  ),
});

const count = () => z.int32().min(0).max(1_000_000);

const consumer = z.object({
  node: z.string().max(253).describe('The node.'),
  state: z.string().max(64).describe('How far it is: Ready, or what it waits for.'),
  pod: z.string().max(253).optional().describe('The consumer on it.'),
});

const status = commonStatus.extend({
  module: z.string().max(63).optional().describe('The Module of KMM.'),
  daemonSet: z.string().max(63).optional().describe('The DaemonSet of the consumers.'),
  revision: z.string().max(63).optional().describe('The revision that is asked for.'),
  nodes: z
    .object({
      matching: count().describe('Nodes that the selector means and that may be used.'),
      loaded: count().describe('Those of them that have loaded the module.'),
      plugged: count().describe('Those of them whose plugin runs, too.'),
      ready: count().describe('Those of them whose consumer is ready.'),
    })
    .optional()
    .describe('Nodes, counted.'),
  consumers: listMap('node', consumer, 1_000).optional().describe('Nodes in the order of their names; the first 1000.'),
});

const either = (one: string, other: string) => ({
  rule: `!has(self.${one}) || !has(self.${other})`,
  message: `is another spelling of ${one}: name one of the two`,
  fieldPath: `.${other}`,
});

const hasVersion = (of: string) => `(has(${of}.driver) && has(${of}.driver.version))`;

/** A kernel module, its devices, and pods that use them. */
export const DeviceTemplate = defineKind({
  group: 'baton.dev',
  version: 'v1alpha1',
  kind: 'DeviceTemplate',
  plural: 'devicetemplates',
  shortNames: ['dt'],
  categories: ['baton'],
  description: 'A kernel module and the plugin of its devices, brought to nodes by KMM, and pods that use the devices.',
  spec: withRules(
    spec.describe('What is asked for.'),
    either('consumer', 'consumerimage'),
    either('plugin', 'deviceplugin'),
    either('imagePullSecret', 'imageRepoSecret'),
    {
      rule: 'self.requiredDevices <= self.maxdev',
      message: 'must not be greater than maxdev: no node has more devices',
      fieldPath: '.requiredDevices',
    },
    {
      rule: 'self.maxdev <= 5 || has(self.driver) && has(self.driver.kernels)',
      message:
        'must not be greater than 5 with the default driver, which has room for no more: name one in driver.kernels',
      fieldPath: '.maxdev',
    },
    {
      rule: `${hasVersion('self')} == ${hasVersion('oldSelf')}`,
      message:
        'must not get or lose a version, which KMM does not let a Module do: delete the DeviceTemplate and apply it anew',
      fieldPath: '.driver',
    },
  ),
  status: status.describe('What is.'),
  longestName: 63,
  conditions: ['Available', 'ModuleLoaded', 'PluginReady', 'ConsumersReady', 'Outdated'],
  columns: [
    { name: 'Phase', type: 'string', path: '.status.phase' },
    { name: 'Ready', type: 'string', path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', path: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Nodes', type: 'integer', path: '.status.nodes.matching' },
    { name: 'Consumers', type: 'integer', path: '.status.nodes.ready' },
    { name: 'Module', type: 'string', path: '.status.module', priority: 1 },
    { name: 'Message', type: 'string', path: '.status.message', priority: 1 },
  ],
});
export type DeviceTemplate = ObjectOf<typeof DeviceTemplate>;
export type DeviceTemplateStatus = StatusOf<typeof DeviceTemplate>;
