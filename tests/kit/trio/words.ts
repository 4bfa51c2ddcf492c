// What a person is told about a Trio. Same world, same words: no clock, no order of arrival.

import type { Observed } from '../../../src/kube/define.ts';
import { type Condition, type Deployment, Pod } from '../../../src/objects/index.ts';
import type { Stage } from './controller.ts';
import { podLabels } from './manifests.ts';
import type { Trio, TrioStatus } from './schema.ts';

/** The status of a Trio at a stage. */
export function statusOf(trio: Trio, stage: Stage, running: Deployment | undefined): TrioStatus {
  const observedGeneration = trio.metadata.generation ?? 0;
  const message = sentence(stage);
  const reason = stage.name === 'Pending' ? stage.reason : stage.name;
  const condition = (type: string, holds: boolean): Condition => ({
    type,
    status: holds ? 'True' : 'False',
    reason,
    message,
    observedGeneration,
  });
  const result = 'result' in stage ? stage.result : undefined;
  return {
    observedGeneration,
    phase: stage.name,
    message,
    replicas: running?.status?.replicas ?? 0,
    selector: selectorOf(trio),
    ...(result === undefined ? {} : { result }),
    conditions: [
      condition('Ready', stage.name === 'Ready'),
      condition('Reconciling', stage.name !== 'Ready' && !isStalled(stage)),
      condition('Stalled', isStalled(stage)),
    ],
  };
}

const selectorOf = (trio: Trio): string =>
  Object.entries({ ...podLabels(trio), 'test.baton.dev/part': 'server' })
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** Whether only somebody else can help. */
const isStalled = (stage: Stage): boolean =>
  stage.name === 'Failed' || (stage.name === 'Pending' && stage.reason === 'SourceMissing');

const words: Record<Stage['name'], string> = {
  Pending: 'Nothing can start yet',
  Working: 'The Job is at work',
  Failed: 'The Job failed',
  Serving: 'The servers are rolling out',
  Ready: 'All servers are available',
};

const sentence = (stage: Stage): string =>
  'cause' in stage && stage.cause ? `${words[stage.name]}: ${stage.cause}` : words[stage.name];

/** Reasons for waiting that pass by themselves. */
const harmless = new Set(['ContainerCreating', 'PodInitializing']);

/** Why a pod of the Trio cannot start or has failed, from the first pod in the order of names that tells. */
export function causeOf(seen: Observed): string | undefined {
  const pods = seen.labelled(Pod).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return pods.map(troubleOf).find((trouble) => trouble !== undefined);
}

function troubleOf({ metadata, status }: Pod): string | undefined {
  const tell = (reason: string, message?: string) =>
    `pod ${metadata.name} says ${reason}${message ? `: ${message.trim()}` : ''}`;
  const unplaced = status?.conditions?.find(({ type, status: holds }) => type === 'PodScheduled' && holds === 'False');
  if (unplaced) return tell(unplaced.reason ?? 'Unschedulable', unplaced.message);
  for (const { state } of [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]) {
    const { waiting, terminated } = state ?? {};
    if (waiting?.reason && !harmless.has(waiting.reason)) return tell(waiting.reason, waiting.message);
    if (terminated && terminated.exitCode !== 0)
      return tell(`${terminated.reason ?? 'Error'} (exit code ${terminated.exitCode})`, terminated.message);
  }
  return undefined;
}
