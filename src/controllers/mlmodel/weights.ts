// How far the weights of a revision are, judged only from what lasts: the note on the claim outlives the Job, and the Job
// outlives its pods. What cannot be used any more goes first, and is seen gone before anything takes its place.

import type { MLModel } from '../../api/index.ts';
import type { Facts, Observed } from '../../kube/define.ts';
import {
  type Cause,
  claimCause,
  expansionCause,
  isPodReady,
  type Job,
  jobResult,
  PersistentVolumeClaim,
  type Pod,
  StorageClass,
  unboundCause,
} from '../../objects/index.ts';
import {
  attemptIn,
  failureOf,
  type InJob,
  inJob,
  type Looking,
  podsOf,
  type Unread,
  untold,
} from '../../serving/index.ts';
import { jobsFor } from './downloads.ts';
import type { MLModelFacts } from './facts.ts';
import { attemptOf, type Source } from './source.ts';
import { digestOn, isGoing, isGrowing, isIntact, isSize, mustBeReplaced, usersOf } from './volume.ts';

/**
 * The stages that weights go through. `absent`: there is no claim yet, and nothing in its way. `leaving`: the claim, or what is left of an earlier one, must go before a new one
 * can come; `held`: servers that answer keep it from going. `restarting`: so must a Job whose evidence is gone, or which
 * is stuck and not what is asked any more. A `cause` is told at once, a `late` one when the deadline has passed.
 */
export type Weights =
  | { at: 'ready'; digest: string | undefined }
  | { at: 'missing'; cause: Cause }
  | { at: 'leaving'; cause: Cause; since: string | undefined; held: boolean }
  | { at: 'absent'; cause: undefined }
  | { at: 'binding'; cause: Cause | undefined; late: Cause | undefined; since: string | undefined }
  | InJob
  | Looking
  | Unread;

/** Where the weights of a source are. What nodes pull by itself is there as soon as it is known. */
export function weightsOf(model: MLModel, source: Source, seen: Observed, facts: Facts<MLModelFacts>): Weights {
  if (source.from === 'claim') return mounted(source.claim, seen);
  if (source.from === 'registry') return untold;
  if (source.from === 'image') return { at: 'ready', digest: source.image.split('@')[1] };
  const claim = seen.get(PersistentVolumeClaim, source.claim);
  if (isIntact(claim)) return { at: 'ready', digest: digestOn(claim) };
  const unsized = sizeCause(model);
  if (unsized) return { at: 'missing', cause: unsized };
  const jobs = jobsFor(source.claim, seen);
  const attempt = attemptOf(model);
  const failed = jobs.find((job) => jobResult(job) === 'failed' && attemptIn(job) === attempt);
  if (failed) return { at: 'failed', attempt, cause: failureOf(failed, podsOf(failed, seen)) };
  const leaving = claim ? goingAway(model, claim, seen, facts) : remains(source.claim, jobs, seen);
  if (leaving) return leaving;
  if (!claim) return { at: 'absent', cause: undefined };
  return loadingFor(model, claim, { jobs, seen, facts });
}

function mounted(name: string, seen: Observed): Weights {
  const claim = seen.read(PersistentVolumeClaim, name);
  if (claim && !isGoing(claim)) return { at: 'ready', digest: undefined };
  const message = claim
    ? `The claim ${name} is being deleted or has lost its volume: name another in modelURL`
    : `The claim ${name} does not exist in this namespace: create it, or name another in modelURL`;
  return { at: 'missing', cause: { reason: 'ClaimNotFound', message, object: objectOf(name) } };
}

/** The API server refuses such sizes, but an object may be older than its rules. */
function sizeCause({ spec: { storageSize = '1Gi' }, metadata: { name } }: MLModel): Cause | undefined {
  if (isSize(storageSize)) return undefined;
  const message = `spec.storageSize is "${storageSize}", which is no size for a volume: write a quantity greater than zero and at most 1Pi, such as 10Gi`;
  return { reason: 'InvalidQuantity', message, object: `MLModel ${name}` };
}

const objectOf = (claim: string): string => `PersistentVolumeClaim ${claim}`;

/** A claim that will not stay, or should not. */
function goingAway(
  model: MLModel,
  claim: PersistentVolumeClaim,
  seen: Observed,
  facts: Facts<MLModelFacts>,
): Weights | undefined {
  const { name, deletionTimestamp } = claim.metadata;
  const object = objectOf(name);
  const servers = usersOf(name, 'server', seen);
  const held = model.spec.replicas > 0 && servers.some(isPodReady);
  const since = deletionTimestamp ?? lastSign(servers);
  const lost = claim.status?.phase === 'Lost' ? claimCause(claim, knownEvents(facts)) : undefined;
  if (deletionTimestamp !== undefined || lost) {
    const { reason, message } = lost ?? { reason: 'ClaimLeaving', message: `${object} is being deleted` };
    return { at: 'leaving', cause: { reason, message: `${message}; ${next(held)}`, object }, since, held };
  }
  if (!mustBeReplaced(model, claim, seen)) return undefined;
  const message = `${object} holds no weights yet and is replaced by one as asked`;
  return { at: 'leaving', cause: { reason: 'ClaimReplaced', message, object }, since, held };
}

const next = (held: boolean): string =>
  held
    ? 'servers that answer still use it and are left alone, but no new one can start: scale to zero to fetch the weights again'
    : 'the weights are fetched again once nothing uses it any more';

/** What an earlier claim left behind would start on the new one before the weights are there. */
function remains(claim: string, jobs: readonly Job[], seen: Observed): Weights | undefined {
  const servers = usersOf(claim, 'server', seen);
  const waiting = [...usersOf(claim, 'download', seen), ...servers];
  if (jobs.length === 0 && (waiting.length === 0 || servers.some(isPodReady))) return undefined;
  const who = waiting.length === 0 ? 'the former download' : `Pod ${firstName(waiting)}`;
  const message = `${objectOf(claim)} is gone; ${who} must end before the weights are fetched again`;
  const cause = { reason: 'ClaimGone', message, object: objectOf(claim) };
  return { at: 'leaving', cause, since: lastSign(waiting), held: false };
}

/** When the last of these pods came, or was told to go. */
const lastSign = (pods: readonly Pod[]): string | undefined =>
  pods
    .flatMap(({ metadata }) => metadata.deletionTimestamp ?? metadata.creationTimestamp ?? [])
    .toSorted()
    .at(-1);

const firstName = (pods: readonly Pod[]): string =>
  pods
    .map(({ metadata }) => metadata.name)
    .toSorted()
    .at(0) ?? '';

const knownEvents = ({ claimEvents }: Facts<MLModelFacts>) => (claimEvents.state === 'known' ? claimEvents.value : []);

type Scene = { jobs: readonly Job[]; seen: Observed; facts: Facts<MLModelFacts> };

/** The download on a claim that stays: the Job that is there, or the next. */
function loadingFor(model: MLModel, claim: PersistentVolumeClaim, { jobs, seen, facts }: Scene): Weights {
  const attempt = attemptOf(model);
  const live = jobs.filter((job) => jobResult(job) !== 'failed');
  const job = live.find((one) => attemptIn(one) === attempt || jobResult(one) === 'complete') ?? live[0];
  if (job) {
    const standing = inJob(job, claimCause(claim, knownEvents(facts)), seen, facts);
    const stuck = standing.at === 'loading' && standing.attempt !== attempt && standing.cause !== undefined;
    return stuck ? { at: 'restarting', cause: undefined, since: undefined } : standing;
  }
  if (bindsFirst(claim, seen) && claim.status?.phase !== 'Bound') return binding(claim, facts);
  const leftover = usersOf(claim.metadata.name, 'download', seen);
  if (leftover.length > 0) return waitingFor(leftover);
  if (isGrowing(model, claim, seen)) return waitingToGrow(claim);
  return { at: 'loading', attempt, cause: undefined, late: undefined, failed: 0, since: undefined };
}

/** Two downloads never write onto one volume at a time. */
function waitingFor(leftover: readonly Pod[]): Weights {
  const name = firstName(leftover);
  const message = `Pod ${name} of a former download must end first`;
  const since = leftover.find(({ metadata }) => metadata.name === name)?.metadata.deletionTimestamp;
  return { at: 'restarting', cause: { reason: 'DownloadEnding', message, object: `Pod ${name}` }, since };
}

/** A download that begins before the volume has grown would find it as full as before, and that is final. */
function waitingToGrow(claim: PersistentVolumeClaim): Weights {
  const object = objectOf(claim.metadata.name);
  const message = `${object} has not grown yet; the download begins when it has`;
  const since = claim.status?.conditions?.find(({ type }) => type === 'Resizing')?.lastTransitionTime ?? undefined;
  return { at: 'restarting', cause: expansionCause(claim) ?? { reason: 'VolumeGrowing', message, object }, since };
}

/** Whether a claim is bound before a pod uses it. A class that we cannot see is taken as one that waits for a pod. */
const bindsFirst = (claim: PersistentVolumeClaim, seen: Observed): boolean =>
  seen.read(StorageClass, claim.spec.storageClassName ?? '')?.volumeBindingMode === 'Immediate';

function binding(claim: PersistentVolumeClaim, facts: Facts<MLModelFacts>): Weights {
  const events = knownEvents(facts);
  const since = claim.metadata.creationTimestamp;
  return { at: 'binding', cause: claimCause(claim, events), late: unboundCause(claim, events), since };
}
