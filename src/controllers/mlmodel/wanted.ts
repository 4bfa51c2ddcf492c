// What should exist, given where everything is. The order is that of the writes: a refusal of one holds up those behind it,
// so a volume that is to grow comes late, when there is one already, and what has no part in Ready comes last.

import { type MLModel, mark } from '../../api/index.ts';
import { apart, apply, create, type Desired, keep, note, type Observed } from '../../kube/define.ts';
import {
  type ControllerRevision,
  Deployment,
  HTTPRoute,
  Ingress,
  type KubeObject,
  PersistentVolumeClaim,
  type PodTemplate,
  Service,
} from '../../objects/index.ts';
import { byName, objectsOf, type Rollout, type Target } from '../../serving/index.ts';
import { inspectJob } from './inspect.ts';
import { mountsImage } from './look.ts';
import { exposureOf } from './exposure.ts';
import { disruptionBudget, exposeName, service, serviceName } from './network.ts';
import { type Revision, revisionObject } from './revision.ts';
import { claimIn, server, serverName } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { type Download, downloadJob, retainedAs, sizeFor, type Volume, weightsClaim } from './storage.ts';
import { hasWeights, isIntact, isSize, mismatchOf, usersOf } from './volume.ts';
import type { Weights } from './weights.ts';

export interface Plan {
  asked: Revision;
  /** What the servers should run: what is asked once its weights are there, until then what they run. */
  target: Target<Revision> | undefined;
  weights: Weights;
  rollout: Rollout;
  /** Former revisions that are kept. */
  former: Revision[];
}

/** All children of a model. */
export function wanted(model: MLModel, plan: Plan, seen: Observed, settings: MLModelSettings): Desired[] {
  return [
    ...(plan.asked.source.from === 'registry'
      ? inspection(model, plan, settings)
      : [create(revisionObject(model, plan.asked))]),
    ...download(model, plan, seen, settings),
    ...servers(model, plan, seen),
    ...network(model, plan, seen),
    ...grown(model, plan, seen),
    ...kept(model, plan, seen).map(keep),
    ...outside(model, plan, seen, settings),
  ];
}

/** A revision is cut when its source is known. Until then a Job may be looking for it. */
const inspection = (model: MLModel, { weights }: Plan, settings: MLModelSettings): Desired[] =>
  'inspecting' in weights && weights.inspecting ? [create(inspectJob(model, settings))] : [];

function download(
  model: MLModel,
  { asked: { source }, weights }: Plan,
  seen: Observed,
  settings: MLModelSettings,
): Desired[] {
  if (source.from !== 'download') return [];
  const claim = weightsClaim(model, source, volumeFor(model, source, seen));
  switch (weights.at) {
    case 'ready':
      return [note(claim, { [mark.digest]: weights.digest ?? '' })];
    case 'loading':
    case 'failed':
      return [apply(claim), create(downloadJob(model, source, weights.attempt, settings))];
    case 'absent':
    case 'binding':
    case 'restarting':
      return [apply(claim)];
    case 'looking':
    case 'unread':
    case 'leaving':
    case 'missing':
      return [];
  }
}

/** A claim that is there keeps its size if it cannot have the one that is asked. Its class was settled when it was made. */
function volumeFor(model: MLModel, source: Download, seen: Observed): Volume {
  const { storageSize = sizeFor(source), storageClassName } = model.spec;
  // One that outlived a model of this name is read before it is ours.
  const held = seen.get(PersistentVolumeClaim, source.claim) ?? seen.read(PersistentVolumeClaim, source.claim);
  if (!held) return { size: storageSize, storageClassName };
  const mismatch = mismatchOf(model, held, seen);
  const stays =
    model.spec.storageSize === undefined ||
    (mismatch !== undefined && mismatch !== 'grows') ||
    !isSize(model.spec.storageSize);
  const size = stays ? (held.spec.resources?.requests?.storage ?? storageSize) : storageSize;
  return { size, storageClassName: undefined };
}

/** The volume of weights that are there. */
function grown(model: MLModel, { asked: { source }, weights }: Plan, seen: Observed): Desired[] {
  if (source.from !== 'download' || weights.at !== 'ready') return [];
  return [apply(weightsClaim(model, source, volumeFor(model, source, seen)))];
}

/** Without a target, what serves is left as it is, and what cannot serve is stopped: it still knows what served before. */
function servers(model: MLModel, { target, rollout }: Plan, seen: Observed): Desired[] {
  const { told, template, serving, served, takeover = 'surge' } = rollout;
  const running = seen.get(Deployment, serverName(model));
  // To say in other words what runs already would only make the Deployment look unfinished for a moment.
  if (running && target?.asItRuns && running.spec.replicas === target.replicas) return [keep(running)];
  if (target) return [apply(server(model, target.revision, target))];
  if (!running || told === undefined || !template) return [];
  if (serving.length > 0 || areThere(template, seen)) return [keep(running)];
  return [apply(server(model, { name: told, template }, { replicas: 0, takeover, served }))];
}

/** Whether the weights that a pod mounts are there. */
function areThere(template: PodTemplate, seen: Observed): boolean {
  if (mountsImage(template)) return true;
  const name = claimIn(template.spec) ?? '';
  const own = seen.get(PersistentVolumeClaim, name);
  return own ? isIntact(own) : seen.read(PersistentVolumeClaim, name) !== undefined;
}

/** An address that was given out once stays. */
const hasAddress = (model: MLModel, { target }: Plan, seen: Observed): boolean =>
  target !== undefined || seen.get(Service, serviceName(model)) !== undefined;

function network(model: MLModel, plan: Plan, seen: Observed): Desired[] {
  if (!hasAddress(model, plan, seen)) return [];
  const { port, template } = plan.target?.revision ?? plan.asked;
  return [apply(service(model, port)), ...(model.spec.replicas > 1 ? [apply(disruptionBudget(model, template))] : [])];
}

/** A route is made once there can be one; until then what exposed the model before stays, and nothing else waits for that. */
function outside(model: MLModel, plan: Plan, seen: Observed, { exposure }: MLModelSettings): Desired[] {
  if (!model.spec.expose || !hasAddress(model, plan, seen)) return [];
  if (exposure.by === 'Gateway' && !seen.serves(HTTPRoute)) return formerExposure(model, seen).map(keep);
  const { port } = plan.target?.revision ?? plan.asked;
  return [apart('Exposed', apply(exposureOf(model, port, exposure)))];
}

const formerExposure = (model: MLModel, seen: Observed): KubeObject[] =>
  [Service, Ingress].flatMap((kind) => seen.get<KubeObject>(kind, exposeName(model)) ?? []);

/** Former revisions with their weights. Whatever becomes of theirs, servers keep their weights for as long as they are there. */
function kept(
  model: MLModel,
  { asked, weights, former }: Plan,
  seen: Observed,
): (ControllerRevision | PersistentVolumeClaim)[] {
  const claims = new Set(former.filter((one) => hasWeights(one, seen)).map(({ source }) => source.claim));
  const isKept = ({ metadata: { name } }: PersistentVolumeClaim) =>
    (name !== asked.source.claim || weights.at === 'leaving') &&
    (claims.has(name) || usersOf(name, 'server', seen).length > 0);
  return [
    ...objectsOf(former, seen),
    ...byName(seen.all(PersistentVolumeClaim).filter(isKept)).map((claim) => retainedAs(model, claim)),
  ];
}
