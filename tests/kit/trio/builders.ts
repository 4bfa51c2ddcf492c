// Trios and their children as they would be observed, for tests: a builder hides what does not matter to the claim.

import { type ConfigMap, type Deployment, type Job, Pod } from '../../../src/objects/index.ts';
import type { AskedOf } from '../../../src/schema/index.ts';
import { RESULT } from './controller.ts';
import { config, job, podLabels, server } from './manifests.ts';
import { Trio } from './schema.ts';

/** A Trio as a person would write it, ready to be sent to an API server. */
export const askedTrio = (name: string, spec: Partial<AskedOf<typeof Trio>['spec']> = {}) => ({
  apiVersion: Trio.apiVersion,
  kind: Trio.kind,
  metadata: { name },
  spec: { text: 'hello', ...spec },
});

/** A Trio as it is observed, with its defaults. */
export const aTrio = (spec: Partial<AskedOf<typeof Trio>['spec']> = {}): Trio => ({
  ...askedTrio('three'),
  metadata: { name: 'three', namespace: 'default', uid: '3-3-3', generation: 1 },
  spec: Trio.definition.spec.parse({ text: 'hello', ...spec }) as Trio['spec'],
});

/** The ConfigMap of a Trio, perhaps with the result noted. */
export function configOf(trio: Trio, result?: string): ConfigMap {
  const observed = config(trio);
  return result === undefined
    ? observed
    : { ...observed, metadata: { ...observed.metadata, annotations: { [RESULT]: result } } };
}

/** The Job of a Trio; with a condition it has ended. */
export const jobOf = (trio: Trio, type?: 'Complete' | 'Failed'): Job => ({
  ...job(trio),
  status: type ? { conditions: [{ type, status: 'True', reason: type, message: '' }] } : { active: 1 },
});

/** The Deployment of a Trio, with as many of its servers available. */
export function serverOf(trio: Trio, available: number): Deployment {
  const { metadata, ...rest } = server(trio);
  const { replicas } = trio.spec;
  const status = { observedGeneration: 1, replicas, updatedReplicas: replicas, availableReplicas: available };
  return { ...rest, metadata: { ...metadata, generation: 1 }, status };
}

/** A pod of a Trio that waits for the given reason. */
export const waitingPod = (trio: Trio, name: string, reason: string, message: string): Pod => ({
  apiVersion: Pod.apiVersion,
  kind: Pod.kind,
  metadata: { name, labels: podLabels(trio) },
  spec: server(trio).spec.template.spec,
  status: {
    phase: 'Pending',
    containerStatuses: [{ name: 'server', ready: false, restartCount: 0, state: { waiting: { reason, message } } }],
  },
});
