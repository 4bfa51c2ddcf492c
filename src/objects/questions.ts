// Pure questions about objects that were observed.

import { type Deployment, type Job } from './builtin.ts';

/** Whether every replica of the Deployment's current generation is there and available. */
export function rolledOut(deployment: Deployment | undefined): boolean {
  const { metadata, spec, status } = deployment ?? {};
  if (!metadata || !status || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false;
  const asked = spec?.replicas ?? 1;
  const { updatedReplicas, replicas, availableReplicas } = status;
  return [updatedReplicas, replicas, availableReplicas].every((count) => (count ?? 0) === asked);
}

/** How a Job stands: its own conditions decide, never the number of its pods. */
export function jobResult(job: Job | undefined): 'absent' | 'running' | 'complete' | 'failed' {
  if (!job) return 'absent';
  const holds = (type: string) => job.status?.conditions?.some((c) => c.type === type && c.status === 'True');
  if (holds('Complete')) return 'complete';
  return holds('Failed') ? 'failed' : 'running';
}
