// The Module of KMM: what is loaded on which nodes, and the plugin that offers the devices. KMM does the rest, and tells by
// labels of nodes how far it is.

import { childName, type DeviceTemplate } from '../../api/index.ts';
import { type KernelMapping, longestModule, Module, moduleLabels } from '../../objects/index.ts';
import { askedOf } from './asked.ts';

/** The name of the Module; with the namespace it must fit into labels of nodes. */
export const moduleName = ({ metadata: { name, namespace = '' } }: DeviceTemplate): string =>
  childName(name, 'module', longestModule - namespace.length);

/** Whether no name would fit. */
export const isNameless = (object: DeviceTemplate): boolean =>
  moduleName(object).length + (object.metadata.namespace ?? '').length > longestModule;

/** The labels by which nodes tell of the Module. */
export const labelsOf = (object: DeviceTemplate) => moduleLabels(object.metadata.namespace ?? '', moduleName(object));

/** Whether an image is named for a kernel. A node that does not tell its kernel yet is not judged. */
export const isMapped = (object: DeviceTemplate, kernel: string): boolean =>
  kernel === '' || askedOf(object).kernels.some((one) => fits(one.kernel, kernel));

const fits = (pattern: string, kernel: string): boolean =>
  pattern.endsWith('*') ? bare(kernel).startsWith(pattern.slice(0, -1)) : bare(kernel) === bare(pattern);

/** KMM takes no notice of the `+` at the end of a kernel that somebody built with changes. */
const bare = (kernel: string): string => kernel.replace(/[+]$/, '');

/** What is asked of KMM. */
export function moduleSpec(object: DeviceTemplate): Module['spec'] {
  const { plugin, secret, moduleName: name, kernels, parameters, tolerations, version } = askedOf(object);
  const { selector } = object.spec;
  return {
    moduleLoader: {
      container: {
        modprobe: { moduleName: name, parameters },
        kernelMappings: kernels.map(mapping),
        imagePullPolicy: 'Always',
        ...(version !== undefined && { version }),
      },
    },
    devicePlugin: { container: { image: plugin, imagePullPolicy: 'Always' } },
    selector,
    ...(secret !== undefined && { imageRepoSecret: { name: secret } }),
    ...(tolerations.length > 0 && { tolerations }),
  };
}

function mapping({ kernel, image }: { kernel: string; image: string }): KernelMapping {
  if (!kernel.endsWith('*')) return { literal: bare(kernel), containerImage: image };
  const begin = kernel.slice(0, -1).replaceAll(/[.+]/g, '\\$&');
  return { regexp: begin === '' ? '^.+$' : `^${begin}.*$`, containerImage: image };
}

/** The Module with this spec. */
export const moduleOf = (object: DeviceTemplate, spec: Module['spec']): Module => ({
  apiVersion: Module.apiVersion,
  kind: Module.kind,
  metadata: { name: moduleName(object) },
  spec,
});
