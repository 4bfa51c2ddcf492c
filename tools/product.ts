// What the product is made of, for the tools that write its manifests: the kinds that have a CRD, and the controllers
// that need roles.

import type { manifestsOf } from '../src/kube/index.ts';
import type { DefinedKind } from '../src/schema/index.ts';

/** A controller of whatever kind, as far as its roles are concerned. */
export type RunController = Parameters<typeof manifestsOf>[0][number];

export const productKinds: readonly DefinedKind[] = [];
export const productControllers: readonly RunController[] = [];
