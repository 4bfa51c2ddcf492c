// Why a claim has no volume, lost it, or does not grow. The claim itself says only that it waits: the words are in its
// events.

import { type KubeEvent, type PersistentVolumeClaim } from '../builtin.ts';
import { type Cause, nameOf } from './cause.ts';
import { eventsAbout } from './events.ts';
import { adviceFor, sentence } from './words.ts';

const advice = [
  [/no storage class is set/, 'name a storageClassName, or make one class the default'],
  [/storageclass\S* "[^"]*" not found/i, 'create that class, or name another in storageClassName'],
] as const;

/** What keeps a claim from its volume, in the words of its newest warning. */
export function claimCause(claim: PersistentVolumeClaim, events: readonly KubeEvent[]): Cause | undefined {
  const about = eventsAbout(claim, events);
  const warning = about.find(isWarning);
  if (claim.status?.phase === 'Lost') return lost(claim, warning?.message);
  if (claim.status?.phase === 'Bound' || !warning || isPast(warning, about)) return undefined;
  return pending(claim, warning.message);
}

/** That there is no volume to bind and no class to make one is reported as if it were normal. */
const isWarning = ({ type, reason }: KubeEvent): boolean => type === 'Warning' || reason === 'FailedBinding';

/** Waiting for a first pod means that nothing is being tried: what failed before was mended. */
const isPast = (warning: KubeEvent, newestFirst: readonly KubeEvent[]): boolean =>
  newestFirst.slice(0, newestFirst.indexOf(warning)).some(({ reason }) => reason === 'WaitForFirstConsumer');

/** What a claim waits for, in whatever words there are; not a failure before a deadline has passed. */
export function unboundCause(claim: PersistentVolumeClaim, events: readonly KubeEvent[]): Cause | undefined {
  if (claim.status?.phase === 'Bound') return undefined;
  return claimCause(claim, events) ?? pending(claim, eventsAbout(claim, events)[0]?.message);
}

function pending(claim: PersistentVolumeClaim, words: string | undefined): Cause {
  const object = nameOf(claim);
  const message = sentence(`${object} has no volume yet`, words, adviceFor(words ?? '', advice));
  return { reason: 'ClaimPending', message, object };
}

function lost(claim: PersistentVolumeClaim, words: string | undefined): Cause {
  const object = nameOf(claim);
  const { volumeName } = claim.spec;
  const happened = `${object} lost its volume${volumeName === undefined ? '' : ` ${volumeName}`}`;
  return { reason: 'ClaimLost', message: sentence(happened, words ?? 'the data on it is gone'), object };
}

const resizeErrors = new Set(['ControllerResizeError', 'NodeResizeError']);

/** Why a bound claim does not grow as asked. */
export function expansionCause(claim: PersistentVolumeClaim): Cause | undefined {
  const error = claim.status?.conditions?.find(({ type, status }) => resizeErrors.has(type) && status === 'True');
  if (!error) return undefined;
  const object = nameOf(claim);
  return { reason: 'ExpansionFailed', message: sentence(`${object} cannot grow`, error.message), object };
}
