// How servers are reached inside the cluster, and how many of them may be taken away while nodes are drained.

import { PodDisruptionBudget, Service } from '../objects/index.ts';
import type { Named } from './parent.ts';

/** The Service before servers that are found by these labels. */
export const clusterService = (metadata: Named, selector: Record<string, string>, port: number): Service => ({
  apiVersion: Service.apiVersion,
  kind: Service.kind,
  metadata,
  spec: { type: 'ClusterIP', selector, ports: [{ name: 'http', port, targetPort: 'http' }] },
});

/** How many servers may be taken away on purpose at a time. */
export const budget = (
  metadata: Named,
  matchLabels: Record<string, string>,
  maxUnavailable: number | string,
): PodDisruptionBudget => ({
  apiVersion: PodDisruptionBudget.apiVersion,
  kind: PodDisruptionBudget.kind,
  metadata,
  // Servers that do not answer anyway must not keep a node from being drained.
  spec: { maxUnavailable, selector: { matchLabels }, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
});
