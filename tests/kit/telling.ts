// How soon a status tells what somebody reported. Both moments are on the clock of the trace: a report that the operator
// watches counts from its event there, one that it has to ask for from the moment at which a watch of the test saw it.

import { conditionOf, type Kind, type KubeObject, kstatusOf } from '../../src/objects/index.ts';
import type { MLModel, MLModelStatus } from '../../src/api/index.ts';
import { eventually } from './eventually.ts';
import type { Rig } from './rig.ts';
import { startWitness, type Witness } from './witness.ts';

/** Where a cause is played. */
export interface Place {
  rig: Rig;
  namespace: string;
  witness: Witness;
}

/** A fresh namespace that is looked at from the beginning. */
export async function openPlace(rig: Rig, kinds: readonly Kind[]): Promise<Place> {
  const namespace = await rig.namespace();
  return { rig, namespace, witness: await startWitness(rig.admin, namespace, kinds) };
}

/** When the first such object was reported: to the operator, if it watches the kind. */
export async function reported<T extends KubeObject>(
  { rig, witness }: Place,
  kind: Kind<T>,
  is: (object: T) => boolean,
): Promise<number> {
  const { object, at } = await witness.first(kind, is, `a report by a ${kind.kind}`);
  const { resourceVersion } = object.metadata;
  const heard = () => rig.proxy.trace.events.find((event) => event.resourceVersion === resourceVersion);
  return heard()?.at ?? at;
}

/** When the API server first refused a write of the operator. */
export const refused = ({ rig, namespace }: Place, resource: string): Promise<number> =>
  eventually(
    () => {
      const tries = rig.proxy.trace.writes({ resource, namespace, subresource: '' });
      return tries.find(({ answer }) => (answer?.status ?? 0) >= 400)?.answer?.at;
    },
    { within: 60_000, every: 20, what: `a write to ${resource} is refused` },
  );

/** When the message of the model first said so. */
export const told = (place: Place, words: RegExp): Promise<number> =>
  written(place, ({ message = '' }) => words.test(message), `the message says ${words}`);

/** When the status first said that only a person can help. */
export const stalled = (place: Place): Promise<number> =>
  written(place, (status) => conditionOf(status, 'Stalled')?.status === 'True', 'it has stalled');

const written = ({ rig, namespace }: Place, is: (status: MLModelStatus) => boolean, what: string): Promise<number> =>
  eventually(
    () => {
      const writes = rig.proxy.trace.writes({ resource: 'mlmodels', subresource: 'status', namespace });
      const found = writes.find(({ body, answer }) => answer?.status === 200 && is(statusIn(body)));
      if (found) return found.answer?.at;
      throw new Error(`its last words were: ${statusIn(writes.at(-1)?.body ?? '{}').message}`);
    },
    { within: 60_000, every: 20, what },
  );

const statusIn = (body: string): MLModelStatus => (JSON.parse(body) as MLModel).status ?? {};

/** What a status says in sum: the words of the table of reasons, and what tools make of it. */
export function verdictOf(model: MLModel): Record<string, string | undefined> {
  const holds = (type: string) => conditionOf(model.status, type)?.status;
  return {
    reason: conditionOf(model.status, 'Ready')?.reason,
    ready: holds('Ready'),
    reconciling: holds('Reconciling'),
    stalled: holds('Stalled'),
    kstatus: kstatusOf(model),
  };
}
