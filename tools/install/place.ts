// Where the operator lives in a cluster, and how its objects are labelled.

import type { KubeObject } from '../../src/objects/index.ts';

/** An object of an installation: whatever a manifest may hold. */
export type Manifest = KubeObject & { [field: string]: unknown };

/** The operator's account, and its own namespace. */
export const home = { serviceAccount: 'baton', namespace: 'baton-system' } as const;

/** The labels of everything that belongs to the operator itself. */
export const labels = { 'app.kubernetes.io/name': 'baton', 'app.kubernetes.io/component': 'operator' } as const;
