// What is really wrong in the small cluster, found without the controller: a model that stalls must say one of these
// reasons, and one with nothing wrong must get ready.

import {
  inspectJob,
  type Revision,
  revisionName,
  type Source,
  sourceOf,
} from '../../../src/controllers/mlmodel/index.ts';
import {
  ControllerRevision,
  Deployment,
  Job,
  jobResult,
  PersistentVolumeClaim,
  Pod,
} from '../../../src/objects/index.ts';
import { settings } from '../mlmodel.ts';
import type { Life } from './life.ts';
import { claimOf } from './store.ts';

/** Where the weights that are asked for come from: as the stored revision says, which holds what a tag meant then. */
export function sourceIn({ store, model }: Life): Source {
  const stored = store.all(ControllerRevision).map(({ data }) => data as Revision);
  return stored.find(({ name }) => name === revisionName(model))?.source ?? sourceOf(model);
}

/** Reasons that would be true. */
export function troubles(life: Life): Set<string> {
  return new Set([...ofSource(life), ...ofVolume(life), ...ofServers(life), ...ofRoom(life)]);
}

function ofSource(life: Life): string[] {
  const { model, weather, store } = life;
  const { modelURL } = model.spec;
  if (modelURL.startsWith('pvc:')) return weather.shelf ? [] : ['ClaimNotFound'];
  if (sourceIn(life).from === 'registry') return ofRegistry(life);
  const ended = store.all(Job).some((job) => jobResult(job) === 'failed');
  if (!ended) return [];
  // A failed download stays what it was, though its source is well again; only its pods know which of them it was.
  return ['SourceNotFound', 'DownloadFailed', 'BackoffLimitExceeded', 'JobFailed', 'ContainerFailed', 'Evicted'];
}

/** What keeps an image from being found, now or when a Job asked. */
function ofRegistry({ model, weather, store }: Life): string[] {
  const trouble = weather.images[model.spec.modelURL];
  const unauthorized = 'SourceUnauthorized';
  const now = {
    private: unauthorized,
    locked: unauthorized,
    missing: 'SourceNotFound',
    unreachable: 'ImageUnreadable',
  };
  const job = store.get(Job, inspectJob(model, settings).metadata.name);
  const then = [
    unauthorized,
    'SourceNotFound',
    'InspectionFailed',
    'BackoffLimitExceeded',
    'ContainerFailed',
    'Evicted',
  ];
  return [
    ...(trouble === undefined || trouble === 'artifact' ? [] : [now[trouble]]),
    ...(job && jobResult(job) === 'failed' ? then : []),
  ];
}

function ofVolume(life: Life): string[] {
  const { weather, store } = life;
  const name = sourceIn(life).claim;
  if (name === undefined) return [];
  const claim = store.get(PersistentVolumeClaim, name);
  const isUsed = store.all(Pod).some((pod) => claimOf(pod) === name);
  if (!claim) return isUsed ? ['ClaimGone'] : [];
  const provider = store.classOf(claim)?.metadata.name;
  if (claim.status?.phase === 'Pending' && (provider === undefined || weather.dry.includes(provider)))
    return ['ClaimPending', 'Unschedulable'];
  const going = claim.status?.phase === 'Lost' || claim.metadata.deletionTimestamp !== undefined;
  return going && isUsed ? ['ClaimLost', 'ClaimLeaving'] : [];
}

function ofServers({ model, weather }: Life): string[] {
  const trouble = weather.servers[model.spec.server?.args?.[0] ?? ''];
  const reasons = { crash: ['CrashLooping'], memory: ['OutOfMemory'], image: ['ImageUnavailable'], slow: ['NotReady'] };
  return trouble === undefined || model.spec.replicas === 0 ? [] : [...reasons[trouble]];
}

function ofRoom(life: Life): string[] {
  const { model, weather, store } = life;
  if (model.spec.nodeSelector?.['disk'] === 'none') return ['Unschedulable'];
  const waiting = store.all(Pod).some((pod) => pod.spec.nodeName === undefined);
  if (waiting && isStuck(life)) return ['Unschedulable'];
  const needed = 1 + Math.max(1, ...store.all(Deployment).map(({ status }) => status?.replicas ?? 0));
  return waiting && weather.room < needed + 1 ? ['Unschedulable'] : [];
}

/** New servers beside those on the other node, as a person asks, or a download beside servers that have read their weights. */
function isStuck({ model, store }: Life): boolean {
  const nodes = new Set(store.all(Pod).flatMap(({ spec }) => spec.nodeName ?? []));
  const wanted = model.spec.nodeSelector === undefined ? 'node-1' : 'node-2';
  const elsewhere = [...nodes].some((name) => name !== wanted);
  return elsewhere && (model.spec.rollout.strategy === 'surge' || store.all(Job).length > 0);
}
