// What the product is made of, for the tools that write its manifests: the kinds that have a CRD, and the controllers
// that need roles.

import { MLModel } from '../src/api/index.ts';
import type { manifestsOf } from '../src/kube/index.ts';
import { controllersFrom, settings } from '../src/operator/index.ts';
import type { DefinedKind } from '../src/schema/index.ts';

/** A controller of whatever kind, as far as its roles are concerned. */
export type RunController = Parameters<typeof manifestsOf>[0][number];

const { image, frameworks, exposure, namespaces, imageVolumes, egressDeny, plainRegistries } = settings;

/** Roles depend on no answer from outside. */
const nobody = { registry: { lookAt: () => Promise.reject(new Error('nobody is asked here')) } };

export const productKinds: readonly DefinedKind[] = [MLModel];
export const productControllers: readonly RunController[] = controllersFrom(
  {
    image: image.initial,
    frameworks: frameworks.initial,
    exposure: exposure.initial,
    namespaces: namespaces.initial,
    imageVolumes: imageVolumes.initial,
    egressDeny: egressDeny.initial,
    plainRegistries: plainRegistries.initial,
  },
  nobody,
).map(({ definition }) => definition);
