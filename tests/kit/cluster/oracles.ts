// What must hold at every moment of a model's life, whatever happens in whatever order.

import { equal, ok } from 'node:assert/strict';
import { isDeepStrictEqual as same } from 'node:util';
import { mark, type MLModelStatus } from '../../../src/api/index.ts';
import { attemptOf, inspectJob, type Revision, revisionName } from '../../../src/controllers/mlmodel/index.ts';
import type { Decision } from '../../../src/kube/define.ts';
import {
  conditionOf,
  ControllerRevision,
  Deployment,
  isOfKind,
  Job,
  jobResult,
  kstatusOf,
  PersistentVolumeClaim,
  Pod,
  Service,
} from '../../../src/objects/index.ts';
import type { Write } from './engine.ts';
import type { Life, Watcher } from './life.ts';
import { isStarted } from './nodes.ts';
import { claimOf } from './store.ts';
import { sourceIn } from './truth.ts';
import { isReady, podsOf } from './workloads.ts';

const holds = (status: MLModelStatus | undefined, type: string): boolean =>
  conditionOf(status, type)?.status === 'True';

const readyServers = (life: Life): Pod[] =>
  life.store
    .all(Pod)
    .filter((pod) => isReady(pod) && pod.metadata.labels?.['app.kubernetes.io/component'] === 'server');

/** The claim of a source has its weights: noted, and neither lost nor on its way out. */
const isIntact = (claim: PersistentVolumeClaim | undefined): boolean =>
  claim?.metadata.annotations?.[mark.digest] !== undefined &&
  claim.metadata.deletionTimestamp === undefined &&
  claim.status?.phase !== 'Lost';

/** Ready is told only of what the current generation asks for, with enough servers. */
function checkReady(life: Life): void {
  const { status, model, store } = life;
  if (!holds(status, 'Ready')) return;
  const [running] = store.all(Deployment);
  ok(running && !running.metadata.deletionTimestamp, 'Ready without a Deployment');
  equal(running.status?.observedGeneration, running.metadata.generation, 'Ready before the Deployment was observed');
  equal(running.metadata.annotations?.[mark.revision], revisionName(model), 'Ready with another revision');
  equal(running.spec.replicas, model.spec.replicas, 'Ready with another number of servers');
  const least = model.spec.replicas > 1 ? model.spec.replicas - 1 : model.spec.replicas;
  ok((running.status?.availableReplicas ?? 0) >= least, 'Ready with too few servers');
  equal(running.status?.updatedReplicas, running.status?.replicas, 'Ready while others are there');
  const source = sourceIn(life);
  ok(source.from !== 'registry', 'Ready with an image that nobody has looked at');
  equal(status?.weightsPath, source.from === 'image' ? 'ImageVolume' : 'Claim', 'the wrong way of the weights');
  if (source.from !== 'download' || holds(status, 'DataLost')) return;
  ok(isIntact(store.get(PersistentVolumeClaim, source.claim)), 'Ready without weights');
}

/** The conditions fit together, and tools read them as they are meant. */
function checkConditions({ model, status }: Life): void {
  ok(!(holds(status, 'Stalled') && holds(status, 'Reconciling')), 'Stalled and Reconciling');
  equal(status?.observedGeneration, model.metadata.generation);
  const reading = kstatusOf(model);
  const expected = holds(status, 'Stalled') ? 'Failed' : holds(status, 'Reconciling') ? 'InProgress' : 'Current';
  equal(reading, expected, 'kstatus reads something else');
  ok(reading !== 'Current' || holds(status, 'Ready'), 'Current without being Ready');
  for (const { reason, message } of status?.conditions ?? []) {
    ok(/^[A-Z][A-Za-z]*$/.test(reason), `"${reason}" is no reason`);
    ok(message !== '' && !/\d\d:\d\d|undefined|\[object/.test(message), `"${message}" is no message`);
  }
}

/** Same world, same words: in whatever order objects and their fields come. */
function checkOrder(life: Life, decision: Decision<MLModelStatus>): void {
  const glance = life.glance((objects) => objects.toReversed().map(turned));
  const other = life.decider({ ...glance, object: turned(glance.object) }, life.settings);
  ok(same(other, decision), 'the order of things matters');
}

/** The same value with its keys the other way round. */
function turned<T>(value: T): T {
  if (Array.isArray(value)) return value.map(turned) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, turned(inner)]),
  ) as T;
}

/** What ready servers need is never deleted. */
function checkDeleted(life: Life, { before, after }: Write): void {
  if (!before || after) return;
  const served = readyServers(life);
  if (isOfKind(before, PersistentVolumeClaim))
    ok(!served.some((pod) => claimOf(pod) === before.metadata.name), 'the weights of servers were deleted');
  if (isOfKind(before, ControllerRevision)) {
    const name = before.metadata.labels?.[mark.revision];
    ok(
      !served.some(({ metadata }) => metadata.labels?.[mark.revision] === name),
      'the revision of servers was deleted',
    );
  }
  if (isOfKind(before, Deployment)) ok(!podsOf(life.store, before.metadata.uid).some(isReady), 'servers were deleted');
  if (isOfKind(before, Service) && !before.metadata.name.endsWith('-expose'))
    ok(served.length === 0, 'the Service of servers was deleted');
  if (!isOfKind(before, Job)) return;
  checkVerdict(life, before);
  checkEvidence(life, before);
}

/** As many revisions as history asks for can be returned to, those that served last before all others. */
function checkHistory({ store, model, arrived }: Life, { before, after }: Write): void {
  if (!before || after) return;
  const former = arrived.filter((name) => name !== revisionName(model)).slice(0, model.spec.rollout.history);
  const revisions = [...store.all(ControllerRevision), before].filter((one) => isOfKind(one, ControllerRevision));
  for (const { metadata, data } of revisions) {
    const { source } = data as Revision;
    const claim = [...store.all(PersistentVolumeClaim), before].find(({ metadata: { name } }) => name === source.claim);
    const kept = former.includes(metadata.labels?.[mark.revision] ?? '') && source.from === 'download';
    const lost = before.metadata.uid === metadata.uid || before.metadata.uid === claim?.metadata.uid;
    ok(
      !kept || !lost || !isIntact(claim as PersistentVolumeClaim | undefined),
      'a revision of the history was deleted',
    );
  }
}

/** What was said for good is not asked again, unless a person mends something. */
function checkVerdict(life: Life, job: Job): void {
  const { model } = life;
  const asked = isAsked(life, job);
  const again = job.metadata.annotations?.[mark.attempt] === attemptOf(model);
  ok(!(asked && again && jobResult(job) === 'failed'), 'a failed download is tried again');
}

/** What a Job found out is not thrown away before it is stored. */
function checkEvidence(life: Life, job: Job): void {
  const told = podsOf(life.store, job.metadata.uid).some(({ status }) => status?.phase === 'Succeeded');
  const open = sourceIn(life).from === 'registry' && isAsked(life, job);
  ok(!(open && told && jobResult(job) === 'complete'), 'what was found out about an image is forgotten');
}

/** Whether a Job works for what is asked: it fills its claim, or looks at its image. */
function isAsked(life: Life, { metadata }: Job): boolean {
  const { claim } = sourceIn(life);
  if (claim !== undefined) return metadata.labels?.[mark.weights] === claim;
  return metadata.name === inspectJob(life.model, life.settings).metadata.name;
}

/** Servers are only told to run what has its weights, as its revision says, and none that answers is stopped unasked. */
function checkServers(life: Life, { before, after }: Write): void {
  if (!after || !isOfKind(after, Deployment)) return;
  const { store, model } = life;
  const held = before as Deployment | undefined;
  const name = after.metadata.annotations?.[mark.revision];
  const stored = store.all(ControllerRevision).find(({ metadata }) => metadata.labels?.[mark.revision] === name);
  const stays = same(held?.spec.template, after.spec.template);
  ok(stored ?? (stays && after.spec.replicas === 0), 'servers of a revision that is not stored');
  if ((after.spec.replicas ?? 0) < model.spec.replicas) equal(readyServers(life).length, 0, 'servers were stopped');
  if (!stored) return;
  const { template, source } = stored.data as Revision;
  checkPinned(held, after);
  const grows = (after.spec.replicas ?? 0) > (held?.spec.replicas ?? 0);
  const answers = readyServers(life).some(({ metadata }) => metadata.labels?.[mark.revision] === name);
  ok(stays || same(after.spec.template, template), 'servers differ from their revision');
  ok(
    answers ||
      (stays && !grows) ||
      source.from !== 'download' ||
      isIntact(store.get(PersistentVolumeClaim, source.claim)),
    'servers before their weights',
  );
}

/** A revision means one image for ever, whatever its tag means by now, even if the revision itself was removed. */
function checkPinned(before: Deployment | undefined, after: Deployment): void {
  const [held, told] = [before, after].map((one) => ({
    revision: one?.metadata.annotations?.[mark.revision],
    image: one?.spec.template.metadata?.annotations?.[mark.image],
  }));
  if (held?.revision === told?.revision) equal(told?.image, held?.image, 'a revision means another image');
}

/** Downloads are only for what is asked, one at a time, and not of what is there. */
function checkDownloads(life: Life, { before, after }: Write): void {
  if (before || !after || !isOfKind(after, Job)) return;
  ok(isAsked(life, after), 'a download of what nobody asks for');
  const source = sourceIn(life);
  if (source.claim === undefined) return equal(source.from, 'registry', 'a look at what is known');
  const claim = life.store.get(PersistentVolumeClaim, source.claim);
  ok(claim && !claim.metadata.deletionTimestamp, 'a download without a claim');
  ok(claim.metadata.annotations?.[mark.digest] === undefined, 'a download of what is there');
}

/** After a whole pass no download of former questions is left, and only one of this. */
function checkJobs(life: Life): void {
  const jobs = life.store.all(Job).filter(({ metadata }) => !metadata.deletionTimestamp);
  ok(
    jobs.every((job) => isAsked(life, job)),
    'a download of a former source goes on',
  );
  ok(jobs.length <= 1, 'two downloads at once');
}

/** No server starts on a volume without its weights, and no two downloads write onto one volume. */
function checkPod({ store, volumes }: Life, { metadata }: Pod): void {
  const pod = store.get(Pod, metadata.name);
  if (!pod || pod.metadata.deletionTimestamp) return;
  const image = imageIn(pod);
  ok(image === undefined || /@sha256:image-/.test(image), 'a server was started on an image that is mounted empty');
  const claim = store.get(PersistentVolumeClaim, claimOf(pod) ?? '');
  if (isStarted(pod) && !isReady(pod) && claim)
    ok(volumes.has(claim.metadata.uid ?? ''), 'a server was started on an empty volume');
  if (!claim) return;
  const loading = store
    .all(Pod)
    .filter((other) => isLoading(other) && claimOf(other) === claimOf(pod) && other.spec.nodeName !== undefined);
  ok(loading.length <= 1, 'two downloads write onto one volume');
}

/** The image that a pod mounts its weights from. */
function imageIn({ spec }: Pod): string | undefined {
  const volumes = (spec['volumes'] ?? []) as { image?: { reference: string } }[];
  return volumes.find((volume) => volume.image)?.image?.reference;
}

const isLoading = ({ metadata, status }: Pod): boolean =>
  metadata.labels?.['app.kubernetes.io/component'] === 'download' && status?.phase === 'Running';

/** Another operator than the one that cut what is asked rolls nothing, and says so; the same one never does. */
function checkOutdated({ model, settings, store, status, cutters }: Life): void {
  const stored = store
    .all(ControllerRevision)
    .find(({ metadata }) => metadata.labels?.[mark.revision] === revisionName(model));
  if (!stored) return;
  equal(holds(status, 'Outdated'), cutters.get(stored.metadata.name) !== settings, 'Outdated is wrong');
}

/** All of them together. */
export const oracles: Watcher = {
  decided(life, decision) {
    if (life.store.version % 8 === 0) checkOrder(life, decision);
  },
  wrote(life, write) {
    checkDeleted(life, write);
    checkHistory(life, write);
    checkServers(life, write);
    checkDownloads(life, write);
  },
  told(life) {
    checkReady(life);
    checkConditions(life);
    checkJobs(life);
    checkOutdated(life);
  },
  stepped: checkPod,
};

/** Nobody looks. */
export const nobody: Watcher = { decided: () => {}, wrote: () => {}, told: () => {}, stepped: () => {} };
