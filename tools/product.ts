// What the product is made of, for the tools that write its manifests: the kinds that have a CRD, and the controllers
// that need roles.

import type { AnyDefinition } from '../src/kube/rbac.ts';
import type { DefinedKind } from '../src/schema/index.ts';

export const productKinds: readonly DefinedKind[] = [];
export const productControllers: readonly AnyDefinition[] = [];
