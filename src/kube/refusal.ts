// Errors of a pass, sorted by what helps: nothing but a person, or only time. The words go into the parent's status.

import type { KubeObject } from '../objects/index.ts';
import { nameOf } from './child.ts';
import { ApiError } from './client/index.ts';

/** A write that will not succeed before somebody changes something. */
export class Refusal extends Error {
  readonly reason: string;
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Refusal';
    this.reason = reason;
  }
}

/** What was observed is not true any more: nobody's fault and nobody's news, the next pass sees better. */
export class Stale extends Error {
  override readonly name = 'Stale';
}

/** An object of somebody else stands under the name that we need. */
export function ownershipConflict(live: KubeObject): Refusal {
  const owner = live.metadata.ownerReferences?.find(({ controller }) => controller === true);
  const whose = owner ? `belongs to ${owner.kind} ${owner.name}` : 'was not made by Baton';
  return new Refusal(
    'OwnershipConflict',
    `${nameOf(live)} exists already and ${whose}; it is left untouched. Rename or delete it to go on`,
  );
}

/** The error of one write, in terms of what to do about it. */
export function judged(error: unknown, child: KubeObject): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status === 409) return stale(error, child);
  if (error.status === 403) return forbidden(error, child);
  // An apply that names the UID of an object which was replaced is not invalid, it is late.
  if (error.status === 422 && /metadata\.uid|\buid\b.*(precondition|mismatch)/i.test(error.message))
    return stale(error, child);
  if (error.status === 422 || error.status === 400) return refusal('Invalid', 'the API server refused', error, child);
  if (error.status === 500 && /webhook/.test(error.message))
    return refusal('AdmissionUnavailable', 'nobody could admit', error, child);
  return error;
}

const stale = (cause: ApiError, child: KubeObject): Stale => new Stale(`${nameOf(child)} changed meanwhile`, { cause });

function forbidden(error: ApiError, child: KubeObject): unknown {
  if (/being terminated/.test(error.message))
    return new Stale(`${nameOf(child)}: the namespace is being deleted`, { cause: error });
  if (/exceeded quota/.test(error.message)) return refusal('QuotaExceeded', 'the quota does not allow', error, child);
  if (/ cannot \w+ resource /.test(error.message))
    return refusal('MissingPermission', 'the operator may not write', error, child);
  return refusal('AdmissionDenied', 'an admission policy refused', error, child);
}

const refusal = (reason: string, what: string, cause: ApiError, child: KubeObject): Refusal =>
  new Refusal(reason, `${what} ${nameOf(child)}: ${cause.message}`, { cause });
