// Events on the object that the user wrote: a Warning when something turns bad, a Normal one when drift was put back. The Event's name is made of what it
// says, so that a repetition, also by another operator or after a crash, is the same Event.

import { hashOf } from '../base/index.ts';
import { type CommonStatus, conditionOf, KubeEvent } from '../objects/index.ts';
import type { Owner } from './child.ts';
import { ApiError, type Client } from './client/index.ts';

/** What turned bad between two statuses: it stalled (for another reason), or it was ready and is not, with nothing new asked. */
export function turnedBad(
  before: CommonStatus | undefined,
  after: CommonStatus,
): { reason: string; message: string } | undefined {
  const stalled = conditionOf(after, 'Stalled');
  const former = conditionOf(before, 'Stalled');
  if (stalled?.status === 'True' && (former?.status !== 'True' || former.reason !== stalled.reason)) return stalled;
  const ready = conditionOf(after, 'Ready');
  const held = conditionOf(before, 'Ready');
  const lost = ready?.status === 'False' && held?.status === 'True';
  // After an edit nobody expects it to be ready at once: that is work, not trouble.
  return lost && ready.observedGeneration === held.observedGeneration ? ready : undefined;
}

/** Whether a condition has a reason to be bad that it did not have before. */
export const isNews = (before: CommonStatus | undefined, condition: string, { reason }: { reason: string }): boolean =>
  conditionOf(before, condition)?.reason !== reason;

/** What is bad, as the object's Event. */
export const warningOf = (owner: Owner, what: { reason: string; message: string }, now: number): KubeEvent =>
  eventOf('Warning', owner, what, now);

/** What somebody else changed and we put back; good to know, and nothing to do. */
export const driftOf = (owner: Owner, child: string, why: string, now: number): KubeEvent =>
  eventOf('Normal', owner, { reason: 'DriftCorrected', message: `${child} was put back as asked: ${why}` }, now);

function eventOf(
  type: KubeEvent['type'],
  { object, kind }: Owner,
  what: { reason: string; message: string },
  now: number,
): KubeEvent {
  const { name, namespace = '', uid = '' } = object.metadata;
  const message = what.message.slice(0, 1_000).toWellFormed();
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  // A name that was cut must not end in the middle of a separator.
  const short = name.slice(0, 200).replace(/[-.]+$/, '');
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${short}.${hashOf([uid, what.reason, message])}`, namespace },
    type,
    reason: what.reason,
    message,
    involvedObject: { apiVersion: kind.apiVersion, kind: kind.kind, name, namespace, uid },
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component: 'baton' },
  };
}

/** Posts the Event, unless the same one is there already. */
export async function post(client: Client, event: KubeEvent): Promise<void> {
  try {
    await client.create(KubeEvent, event, { manager: 'baton' });
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
  }
}
