// Labels and annotations of our children, and those that people set on our objects.

import { label } from '../objects/index.ts';

/** On parents and children alike. */
export const mark = {
  /** On a claim: the digest of the weights on it. */
  digest: 'baton.dev/digest',
  /** On claims, Jobs and pods: whose weights. */
  weights: 'baton.dev/weights',
  /** On DaemonSets and pods: for which version of a driver. */
  version: 'baton.dev/version',
  /** On Deployments, DaemonSets and pods: which revision. */
  revision: 'baton.dev/revision',
  /** On pods whose weights come from an image: which, by its digest. */
  image: 'baton.dev/image',
  /** On Deployments: how this revision takes over. */
  rollout: 'baton.dev/rollout',
  /** On Deployments: the revisions that have taken over completely before, the last first. */
  served: 'baton.dev/served',
  /** On a Job: what it was started for; another value is another attempt. */
  attempt: 'baton.dev/attempt',
  /** By a person, on a parent: another value starts a failed download anew. */
  retry: 'baton.dev/retry',
  /** By a person, on a parent: another value renders the servers anew with this operator's table. */
  refresh: 'baton.dev/refresh',
} as const;

/** The recommended labels, and ours, for objects and pods of one part. */
export const partLabels = (kind: string, name: string, component: string): Record<string, string> => ({
  'app.kubernetes.io/name': kind.toLowerCase(),
  'app.kubernetes.io/instance': name,
  'app.kubernetes.io/component': component,
  'app.kubernetes.io/managed-by': 'baton',
  [label.kind]: kind,
  [label.name]: name,
});
