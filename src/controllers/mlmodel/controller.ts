// An MLModel: weights are fetched once per source onto a volume, then a Deployment serves them. What serves goes on serving,
// with its own weights, until what is asked for is ready. Everything here is a pure function of what the cache saw.

import { MLModel, type MLModelStatus } from '../../api/index.ts';
import {
  type ControllerDefinition,
  type Decision,
  defineController,
  type Observed,
  type Pass,
} from '../../kube/define.ts';
import {
  ControllerRevision,
  Deployment,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
  StorageClass,
} from '../../objects/index.ts';
import { claimEvents, type MLModelFacts, progress } from './facts.ts';
import { askedRevision, cut, type Revision, revisionsIn } from './revision.ts';
import { type Rollout, rolloutOf } from './rollout.ts';
import type { MLModelSettings } from './settings.ts';
import { stageOf } from './stage.ts';
import { formerRevisions, type Plan, wanted } from './wanted.ts';
import { weightsOf, type Weights } from './weights.ts';
import { statusOf } from './words.ts';

/** One pass: where is it, what should exist, what do we say. */
export function decide(
  { object: model, seen, facts, now }: Pass<MLModel, MLModelFacts>,
  settings: MLModelSettings,
): Decision<MLModelStatus> {
  const plan = planOf(model, seen, facts, settings);
  const { stage, left } = stageOf(model, plan, now);
  const status = statusOf({ model, stage, plan, seen, facts, outdated: isOutdated(model, plan.asked, settings) });
  return { want: wanted(model, plan, seen, settings), status, ...(left !== undefined && { again: left }) };
}

function planOf(
  model: MLModel,
  seen: Observed,
  facts: Pass<MLModel, MLModelFacts>['facts'],
  settings: MLModelSettings,
): Plan {
  const asked = askedRevision(model, seen, settings);
  const weights = weightsOf(model, asked.source, seen, facts);
  const rollout = rolloutOf(model, seen);
  return {
    asked,
    weights,
    rollout,
    target: targetOf(asked, weights, rollout, seen),
    former: formerRevisions(model, asked, rollout.told, seen),
  };
}

/** What the servers should run: never something whose weights are not there. */
function targetOf(asked: Revision, weights: Weights, rollout: Rollout, seen: Observed): Revision | undefined {
  if (weights.at === 'ready') return asked;
  return revisionsIn(seen).find(({ name }) => name === rollout.told);
}

/** Whether this operator would render the servers in another way than the revision that is stored. */
function isOutdated(model: MLModel, asked: Revision, settings: MLModelSettings): boolean {
  const today = cut(model, settings, asked.number);
  return JSON.stringify([today.template, today.port]) !== JSON.stringify([asked.template, asked.port]);
}

/** The controller, with what the operator's configuration decides. */
export const mlModelController = (
  settings: MLModelSettings,
): ControllerDefinition<MLModel, MLModelStatus, MLModelFacts> =>
  defineController({
    kind: MLModel,
    conditions: [
      'Available',
      'StorageReady',
      'Downloaded',
      'Serving',
      'Exposed',
      'Outdated',
      'StorageShrinkIgnored',
      'Retained',
    ],
    owns: [ControllerRevision, PersistentVolumeClaim, Job, Deployment, Service, PodDisruptionBudget],
    labelled: [Pod],
    reads: [PersistentVolumeClaim, StorageClass],
    gather: { progress, claimEvents },
    decide: (pass) => decide(pass, settings),
  });
