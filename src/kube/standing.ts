// The rules of leader election as pure functions: what a candidate knows (its standing), what an event makes of it, and
// what it would write into the Lease next. Takeover is judged by changes that the candidate saw itself, on its own
// monotonic clock; the times in the Lease are for people. See docs/design/0007-election.md.

import { canonical } from '../base/index.ts';
import { Lease } from '../objects/index.ts';

export interface LeaseTimes {
  /** A standby takes the lease when it saw no change for so long. */
  lease: number;
  /** A leader writes nothing later than this after the start of its last confirmed renewal. */
  renewDeadline: number;
  /** From the start of one renewal to the next. */
  renew: number;
  /** How often a standby looks, and how soon a failed renewal is repeated. */
  retry: number;
}

export const defaultTimes: LeaseTimes = { lease: 15_000, renewDeadline: 10_000, renew: 2_000, retry: 1_000 };

/** A record as it was seen, and since when it has not changed; no lease: there is none. */
export interface Sighting {
  lease: Lease | undefined;
  since: number;
}

/** `lost` lasts until the next event and is then a standby. `unsure`: a renewal got no answer, so look before the next. */
export type Standing =
  | { as: 'standby'; seen?: Sighting }
  | { as: 'leading'; lease: Lease; confirmed: number; unsure: boolean }
  | { as: 'lost'; why: string; seen?: Sighting }
  | { as: 'released' };

/** What happened; all times are monotonic. `asked` is when the request that was confirmed had begun. */
export type Happening =
  | { is: 'saw'; lease: Lease | undefined; at: number }
  | { is: 'confirmed'; lease: Lease; asked: number; at: number }
  | { is: 'refused'; at: number }
  | { is: 'unanswered'; at: number }
  | { is: 'passed'; at: number };

/** Who the candidate is. */
export interface Candidate {
  identity: string;
  namespace: string;
  name: string;
  times: LeaseTimes;
}

/** Whether a write may begin at this moment. */
export const mayWriteAt = (standing: Standing, at: number, { renewDeadline }: LeaseTimes): boolean =>
  standing.as === 'leading' && at < standing.confirmed + renewDeadline;

/** What an event makes of a standing. */
export function step(standing: Standing, event: Happening, me: Candidate): Standing {
  if (standing.as === 'released') return standing;
  if (event.is === 'confirmed') return confirmed(event, me.times);
  return standing.as === 'leading' ? lead(standing, event, me) : stand(standing.seen, event);
}

/** The lease is ours from the moment at which we asked; an answer that took too long is worth nothing. */
function confirmed(event: Happening & { is: 'confirmed' }, times: LeaseTimes): Standing {
  const { lease, asked: since, at } = event;
  const leading: Standing = { as: 'leading', lease, confirmed: since, unsure: false };
  return mayWriteAt(leading, at, times) ? leading : { as: 'lost', why: 'the answer to a renewal came too late' };
}

type Leading = Standing & { as: 'leading' };
type Unconfirmed = Exclude<Happening, { is: 'confirmed' }>;

function lead(standing: Leading, event: Unconfirmed, { identity, times }: Candidate): Standing {
  if (!mayWriteAt(standing, event.at, times)) return { as: 'lost', why: 'no renewal was confirmed in time' };
  switch (event.is) {
    case 'saw': {
      const holder = event.lease?.spec?.holderIdentity;
      if (event.lease && holder === identity) return { ...standing, lease: event.lease, unsure: false };
      const why = event.lease ? `the lease is held by ${holder || 'nobody'}` : 'the lease was deleted';
      return { as: 'lost', why, seen: { lease: event.lease, since: event.at } };
    }
    case 'refused':
      return { as: 'lost', why: 'somebody else wrote the lease' };
    case 'unanswered':
      return { ...standing, unsure: true };
    case 'passed':
  }
  return standing;
}

function stand(seen: Sighting | undefined, event: Unconfirmed): Standing {
  if (event.is !== 'saw') return { as: 'standby', ...(seen && { seen }) };
  const same = seen && canonical(seen.lease?.spec) === canonical(event.lease?.spec);
  return { as: 'standby', seen: { lease: event.lease, since: same ? seen.since : event.at } };
}

/** What the candidate would write now: a renewal, a claim, or nothing. `now` is wall time, `at` monotonic. */
export function wishOf(standing: Standing, me: Candidate, { now, at }: { now: number; at: number }): Lease | undefined {
  if (standing.as === 'released') return undefined;
  const renewTime = microTime(now);
  if (standing.as === 'leading') return withSpec(standing.lease, { ...termsOf(me), renewTime });
  if (!standing.seen) return undefined;
  const claim = { ...termsOf(me), renewTime, acquireTime: renewTime };
  const { lease } = standing.seen;
  if (!lease) return { ...blankLease(me), spec: { ...claim, leaseTransitions: 0 } };
  if (at < freeAt(standing.seen, me)) return undefined;
  const before = lease.spec?.leaseTransitions ?? 0;
  return withSpec(lease, {
    ...claim,
    leaseTransitions: lease.spec?.holderIdentity === me.identity ? before : before + 1,
  });
}

/** The record that lets the next one in at once. */
export const releasedOf = (lease: Lease, now: number): Lease =>
  withSpec(lease, { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) });

/** When the lease may be taken by whoever saw it. A lease that is ours or nobody's is free already. */
function freeAt({ lease, since }: Sighting, { identity, times }: Candidate): number {
  const { holderIdentity = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
  if (holderIdentity === '' || holderIdentity === identity) return since;
  return since + (leaseDurationSeconds > 0 ? leaseDurationSeconds * 1_000 : times.lease);
}

/** Milliseconds until the next round. A lost lease is looked at once more at once. */
export function restOf(standing: Standing, me: Candidate, at: number): number {
  const { retry, renew, renewDeadline } = me.times;
  switch (standing.as) {
    case 'leading': {
      const left = standing.confirmed + renewDeadline - at;
      const rest = standing.unsure ? Math.min(retry, Math.max(left / 2, retry / 10)) : standing.confirmed + renew - at;
      return Math.max(0, Math.min(rest, left));
    }
    case 'standby': {
      const left = standing.seen ? freeAt(standing.seen, me) - at : 0;
      return left > 0 ? Math.min(retry, left) : retry;
    }
    case 'lost':
    case 'released':
  }
  return 0;
}

/** Milliseconds that one request may take: a leader's is shorter than what is left to it, so that it can try again. */
export function patienceOf(standing: Standing, { times: { renewDeadline } }: Candidate, at: number): number {
  const left = standing.as === 'leading' ? standing.confirmed + renewDeadline - at : renewDeadline;
  return Math.max(1, Math.min(renewDeadline / 4, left / 2));
}

/** A time as a Lease wants it: six fraction digits; with three the API server refuses the object. */
export const microTime = (now: number): string => new Date(now).toISOString().replace('Z', '000Z');

const termsOf = ({ identity, times }: Candidate) => ({
  holderIdentity: identity,
  leaseDurationSeconds: Math.ceil(times.lease / 1_000),
});

const blankLease = ({ namespace, name }: Candidate): Lease => ({
  apiVersion: Lease.apiVersion,
  kind: Lease.kind,
  metadata: { namespace, name },
});

const withSpec = (lease: Lease, spec: Lease['spec']): Lease => ({ ...lease, spec: { ...lease.spec, ...spec } });
