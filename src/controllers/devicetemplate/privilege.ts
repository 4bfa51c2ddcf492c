// Images that run with the rights of a node: what loads a module, what offers devices, and consumers that ask for it. Only the
// cluster's admin says which may, by a setting of the operator.

import type { DeviceTemplate } from '../../api/index.ts';
import type { Cause } from '../../objects/index.ts';
import type { Revision } from './revision.ts';

export interface DeviceSettings {
  /** Names of images, or how they begin with `*` behind that. */
  privilegedImages: readonly string[];
}

/** Why an image may not run as it is asked to. */
export function forbidden(object: DeviceTemplate, revision: Revision, settings: DeviceSettings): Cause | undefined {
  const image = imagesOf(object, revision).find((one) => !isAllowed(one, settings));
  if (image === undefined) return undefined;
  return {
    reason: 'ImageNotAllowed',
    message: `The image ${image} would run with the rights of the node, and the operator's setting privilegedImages does not name it: ask the cluster's admin`,
    object: 'DeviceTemplate',
  };
}

function imagesOf({ spec }: DeviceTemplate, { module, template }: Revision): string[] {
  const { container } = module.moduleLoader;
  const plugin = module.devicePlugin?.container.image;
  return [
    ...container.kernelMappings.map(({ containerImage }) => containerImage),
    ...(plugin === undefined ? [] : [plugin]),
    ...(spec.privileged ? template.spec.containers.map(({ image }) => image) : []),
  ];
}

const isAllowed = (image: string, { privilegedImages }: DeviceSettings): boolean =>
  privilegedImages.some((one) => (one.endsWith('*') ? image.startsWith(one.slice(0, -1)) : image === one));
