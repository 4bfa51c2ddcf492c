// How tools that follow the kstatus convention (`kubectl` plugins, GitOps controllers, Helm's --wait) read a custom
// resource. Our statuses are checked against it in tests, so that every such tool sees what we mean.

import { type CommonStatus, conditionOf } from './condition.ts';
import { type KubeObject } from './kind.ts';

export type Kstatus = 'InProgress' | 'Current' | 'Failed' | 'Terminating';

/** What kstatus says of an object. An object that nobody has written a status for counts as current. */
export function kstatusOf({ metadata, status }: KubeObject & { status?: CommonStatus }): Kstatus {
  if (metadata.deletionTimestamp) return 'Terminating';
  const { observedGeneration } = status ?? {};
  if (metadata.generation !== undefined && (observedGeneration ?? metadata.generation) !== metadata.generation)
    return 'InProgress';
  return byAbnormality(status) ?? byReady(status);
}

/** The first of the two conditions that is true decides, in the order of the list. */
function byAbnormality(status: CommonStatus | undefined): Kstatus | undefined {
  const telling = status?.conditions?.find(
    (condition) => condition.status === 'True' && (condition.type === 'Reconciling' || condition.type === 'Stalled'),
  );
  if (!telling) return undefined;
  return telling.type === 'Stalled' ? 'Failed' : 'InProgress';
}

const byReady = (status: CommonStatus | undefined): Kstatus =>
  (conditionOf(status, 'Ready')?.status ?? 'True') === 'True' ? 'Current' : 'InProgress';
