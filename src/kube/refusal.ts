// Errors of a pass, sorted by what helps: nothing but a person, or only time. The words go into the parent's status.

import { type KubeObject, label } from '../objects/index.ts';
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
  const whose = owner ? `belongs to ${owner.kind} ${owner.name}` : strange(live);
  return new Refusal(
    'OwnershipConflict',
    `${nameOf(live)} exists already and ${whose}; it is left untouched. Rename or delete it to go on`,
  );
}

/** What one of ours left behind says so by its labels; everything else was not made here. */
function strange({ metadata: { labels = {} } }: KubeObject): string {
  const [kind, name] = [labels[label.kind], labels[label.name]];
  return kind && name ? `was made for another ${kind} ${name}` : 'was not made by Baton';
}

/** The error of one write, in terms of what to do about it. */
export function judged(error: unknown, child: KubeObject): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, message } = error;
  // Policies and webhooks deny with whatever status they like.
  if (/ denied (the )?request/.test(message)) return denied(error, child);
  // A write that names the UID of an object which was replaced is not invalid, it is late.
  if (status === 409 || status === 404 || (status === 422 && /\bmetadata\.uid: /.test(message)))
    return stale(error, child);
  if (status === 403) return forbidden(error, child);
  if (status === 500 && /failed calling webhook/.test(message))
    return refusal('AdmissionUnavailable', 'nobody could admit', error, child);
  if (isMalformed(error)) return refusal('Invalid', 'the API server refused', error, child);
  return error;
}

/** The same body will never be taken. The server calls a wrong type in an apply, and what etcd finds too large, its own error. */
const isMalformed = ({ status, message }: ApiError): boolean =>
  status === 400 ||
  status === 413 ||
  status === 422 ||
  (status === 500 &&
    /typed patch object|etcdserver: request is too large|ResourceExhausted|larger than max/.test(message));

const stale = (cause: ApiError, child: KubeObject): Stale => new Stale(`${nameOf(child)} changed meanwhile`, { cause });

function forbidden(error: ApiError, child: KubeObject): unknown {
  if (/being terminated/.test(error.message))
    return new Stale(`${nameOf(child)}: the namespace is being deleted`, { cause: error });
  if (/definition is terminating/.test(error.message))
    return new Stale(`${nameOf(child)}: its kind is being deleted`, { cause: error });
  if (/exceeded quota/.test(error.message)) return refusal('QuotaExceeded', 'the quota does not allow', error, child);
  if (/ cannot \w+ resource /.test(error.message))
    return refusal('MissingPermission', 'the operator may not write', error, child);
  return denied(error, child);
}

const denied = (error: ApiError, child: KubeObject): Refusal =>
  refusal('AdmissionDenied', 'an admission policy refused', error, child);

const refusal = (reason: string, what: string, cause: ApiError, child: KubeObject): Refusal =>
  new Refusal(reason, `${what} ${nameOf(child)}: ${newsIn(cause, child)}`, { cause });

/** What the server said, without the name of the child, which stands before it already. */
function newsIn({ said }: ApiError, { metadata }: KubeObject): string {
  const [, name = metadata.name, news = said] = /^\S+(?: "([^"]*)")? is (?:invalid|forbidden): (.+)$/s.exec(said) ?? [];
  return name === metadata.name ? news : said;
}
