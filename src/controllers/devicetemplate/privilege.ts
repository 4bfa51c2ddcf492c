// Images that run with the rights of a node: what loads a module, what offers devices, and consumers that ask for it. Only the
// cluster's admin says which may, by a setting of the operator.

import { isDeepStrictEqual } from 'node:util';
import type { Cause, PodTemplate } from '../../objects/index.ts';
import { containerBasics, podBasics } from '../../serving/index.ts';
import type { Revision } from './revision.ts';

export interface DeviceSettings {
  /** Names of images, or how they begin with `*` behind that; a digest is under `*` only where it stands alone, or behind `/` or `@`. */
  privilegedImages: readonly string[];
}

/** Why an image may not run as it is asked to. */
export function forbidden(revision: Revision, settings: DeviceSettings): Cause | undefined {
  const image = imagesOf(revision).find((one) => !isAllowed(one, settings));
  if (image === undefined) return undefined;
  return {
    reason: 'ImageNotAllowed',
    message: `The image ${image} would run with the rights of the node, and the operator's setting privilegedImages does not name it: ask the cluster's admin`,
    object: 'DeviceTemplate',
  };
}

/** What is rendered counts, not what was asked for: whoever can write a revision could have changed it. */
const imagesOf = ({ module, template }: Revision): string[] => [
  ...imagesIn(module),
  ...(isPowerful(template) ? imagesIn(template) : []),
];

/** Every image that a value names, at whatever depth. */
const imagesIn = (value: unknown): string[] =>
  Object.entries(value ?? {}).flatMap(([key, below]) => {
    if (typeof below === 'string') return /image$/i.test(key) ? [below] : [];
    return typeof below === 'object' ? imagesIn(below) : [];
  });

/**
 * Whatever consumers do not have that ask for nothing: so no way up is forgotten. Revisions live on: who changes the basics has to let
 * pass here what they were.
 */
const isPowerful = ({ spec }: PodTemplate): boolean =>
  !isDeepStrictEqual(spec['securityContext'], podBasics({}).securityContext) ||
  isOfHost(spec) ||
  listed(spec['volumes'])
    .flatMap(Object.keys)
    .some((field) => field !== 'name' && field !== 'emptyDir') ||
  [spec.containers, spec.initContainers, spec['ephemeralContainers']].flatMap(listed).some(isPowerfulContainer);

const isPowerfulContainer = ({ securityContext, ports }: Loose): boolean =>
  !isDeepStrictEqual(securityContext, containerBasics['securityContext']) || listed(ports).some(isOfHost);

type Loose = Record<string, unknown>;

const listed = (list: unknown): Loose[] => (list ?? []) as Loose[];

const isOfHost = (fields: Loose): boolean => Object.keys(fields).some((field) => field.startsWith('host'));

/** A digest behind a tag is another image than the tag: who allows tags has not seen it. */
const isAllowed = (image: string, { privilegedImages }: DeviceSettings): boolean =>
  privilegedImages.some((one) => {
    if (!one.endsWith('*')) return image === one;
    const begin = one.slice(0, -1);
    const isWhole = begin === '' || begin.endsWith('/');
    return image.startsWith(begin) && (isWhole || !image.slice(begin.length).includes('@'));
  });
