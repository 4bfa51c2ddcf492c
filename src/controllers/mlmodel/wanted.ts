// What should exist, given where everything is.

import { type MLModel, mark } from '../../api/index.ts';
import { apply, create, type Desired, keep, note, type Observed } from '../../kube/define.ts';
import { ControllerRevision, PersistentVolumeClaim, Pod, quantityOf } from '../../objects/index.ts';
import { disruptionBudget, nodePort, service } from './network.ts';
import { type Revision, revisionObject, revisionsIn } from './revision.ts';
import { type Rollout, takeoverFor } from './rollout.ts';
import { server } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { downloadJob, weightsClaim } from './storage.ts';
import type { Weights } from './weights.ts';

export interface Plan {
  asked: Revision;
  /** What the servers should run: what is asked once its weights are there, until then what they run. */
  target: Revision | undefined;
  weights: Weights;
  rollout: Rollout;
  /** Former revisions that are kept, newest first. */
  former: Revision[];
}

/** All children of a model. */
export function wanted(model: MLModel, plan: Plan, seen: Observed, settings: MLModelSettings): Desired[] {
  return [
    create(revisionObject(model, plan.asked)),
    ...storage(model, plan, seen, settings),
    ...servers(model, plan),
    ...plan.former.flatMap((revision) => kept(revision, seen)),
  ];
}

function storage(
  model: MLModel,
  { asked: { source }, weights }: Plan,
  seen: Observed,
  settings: MLModelSettings,
): Desired[] {
  if (source.from === 'claim') return [];
  const claim = weightsClaim(model, source, sizeFor(model, seen.get(PersistentVolumeClaim, source.claim)));
  switch (weights.at) {
    case 'ready':
      return [apply(claim), note(claim, { [mark.digest]: weights.digest ?? '' })];
    case 'loading':
    case 'failed':
      return [apply(claim), create(downloadJob(model, source, weights.attempt, settings))];
    case 'binding':
    case 'recheck':
    case 'missing':
      return [apply(claim)];
  }
}

/** Volumes grow and never shrink. */
export function sizeFor({ spec }: MLModel, held: PersistentVolumeClaim | undefined): string | number {
  const asked = spec.storageSize ?? '1Gi';
  const now = held?.spec.resources?.requests?.storage;
  return now !== undefined && (quantityOf(now) ?? 0n) > (quantityOf(asked) ?? 0n) ? now : asked;
}

function servers(model: MLModel, { target, rollout }: Plan): Desired[] {
  if (!target) return [];
  const { expose, replicas } = model.spec;
  return [
    apply(server(model, target, takeoverFor(model, target.name, rollout))),
    apply(service(model, target.port)),
    ...(expose ? [apply(nodePort(model, target.port))] : []),
    ...(replicas > 1 ? [apply(disruptionBudget(model))] : []),
  ];
}

/** Which former revisions stay: what serves, what pods still use, and as many with their weights as history asks for. */
export function formerRevisions(model: MLModel, asked: Revision, told: string | undefined, seen: Observed): Revision[] {
  const others = revisionsIn(seen).filter(({ name }) => name !== asked.name);
  const inUse = new Set(seen.labelled(Pod).map(({ metadata }) => metadata.labels?.[mark.revision]));
  const remembered = others.filter((revision) => hasWeights(revision, seen)).slice(0, model.spec.rollout.history);
  return others.filter(
    (revision) => revision.name === told || inUse.has(revision.name) || remembered.includes(revision),
  );
}

/** Whether a revision could be returned to at once. */
export function hasWeights({ source }: Revision, seen: Observed): boolean {
  if (source.from === 'claim') return true;
  return seen.get(PersistentVolumeClaim, source.claim)?.metadata.annotations?.[mark.digest] !== undefined;
}

function kept(revision: Revision, seen: Observed): Desired[] {
  const stored = seen
    .all(ControllerRevision)
    .filter(({ metadata }) => metadata.labels?.[mark.revision] === revision.name);
  const claim = seen.get(PersistentVolumeClaim, revision.source.claim);
  return [...stored, ...(claim ? [claim] : [])].map(keep);
}
