// What servers owe to a parent that says Ready, for every kind that has them.

import { mark } from '../../src/api/index.ts';
import { type Deployment, Pod } from '../../src/objects/index.ts';
import type { World } from './subject.ts';

/** Whether a server answers and is not on its way out. */
export const answers = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false);

/** What is missing of as many servers of a revision as are asked for. */
export function serversLack(
  { replicas, revision }: { replicas: number; revision: string },
  { metadata, spec, status }: Deployment,
  now: World,
): string[] {
  const ready = now.all(Pod).filter((pod) => answers(pod) && pod.metadata.labels?.[mark.revision] === revision);
  const least = replicas > 1 ? replicas - 1 : replicas;
  const available = Math.min(status?.availableReplicas ?? 0, ready.length);
  return [
    ...(metadata.annotations?.[mark.revision] === revision ? [] : ['its Deployment is of another revision']),
    ...(spec.replicas === replicas ? [] : ['its Deployment is of another size']),
    ...((status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) ? [] : ['its Deployment is not observed']),
    ...(status?.updatedReplicas === status?.replicas ? [] : ['older servers are still there']),
    ...(available >= least ? [] : [`only ${available} of ${replicas} servers answer`]),
  ];
}
