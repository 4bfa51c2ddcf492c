// The form of a cause in the tables: how it comes about, who reports it, and what the status makes of it.

import { KubeEvent, type KubeObject, type Pod } from '../../../src/objects/index.ts';
import { eventually } from '../../kit/eventually.ts';
import type { Place } from '../../kit/telling.ts';

type PodStatus = NonNullable<Pod['status']>;

export interface Case {
  name: string;
  own?: object;
  /** What is there before the model. */
  prepare?(place: Place): Promise<unknown>;
  /** When it was reported, perhaps because the test did so. */
  report(place: Place): Promise<number>;
  words: RegExp;
  reason: string;
  /** What it is at once: on its way, or for a person to mend. */
  is: 'going' | 'stalled';
  /** What is on its way is given up when its deadline has passed; the Deployment keeps the time of servers. */
  deadline?: 'of the Deployment' | 'of the operator';
  /** What is true some time afterwards. */
  later?(place: Place): Promise<void>;
}

/** The shortest deadline that there is. */
export const soon = { rollout: { progressDeadlineSeconds: 30 } };

/** What befalls a container of every pod. */
export const befalls = (container: 'server' | 'download', notes: Record<string, string>) => ({
  podAnnotations: {
    'sim.baton.dev/container': container,
    ...Object.fromEntries(Object.entries(notes).map(([name, value]) => [`sim.baton.dev/${name}`, value])),
  },
});

/** A pod of this component whose status is so. */
export const podOf =
  (component: 'server' | 'download', is: (status: PodStatus) => unknown) =>
  ({ metadata, status }: Pod): boolean =>
    metadata.labels?.['app.kubernetes.io/component'] === component && Boolean(status && is(status));

/** Why the first container waits. */
export const waitsFor = ({ containerStatuses: [first] = [] }: PodStatus): string | undefined =>
  first?.state?.waiting?.reason;

/** How the first container ended, now or before its last start. */
export const endOf = ({ containerStatuses: [first] = [] }: PodStatus) =>
  first?.state?.terminated ?? first?.lastState?.terminated;

/** Posts an Event about an object, as whoever cares for it would, when the operator has just found none, and tells when. */
export async function posts(
  { rig, namespace }: Place,
  about: KubeObject,
  { reason, message }: { reason: string; message: string },
): Promise<number> {
  const { apiVersion, kind, metadata } = about;
  const { name, uid = '' } = metadata;
  const asked = () =>
    rig.proxy.trace.requests({ verb: 'list', resource: 'events', namespace }).some(({ answer }) => answer);
  await eventually(asked, { every: 20, what: 'the operator asks for events' });
  const time = new Date().toISOString();
  const begun = performance.now();
  await rig.admin.create(
    KubeEvent,
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: `${name}.played` },
      type: 'Warning',
      reason,
      message,
      involvedObject: { apiVersion, kind, name, namespace, uid },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    },
    { manager: 'test' },
  );
  return begun;
}
