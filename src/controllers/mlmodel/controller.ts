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
  HTTPRoute,
  Ingress,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
  StorageClass,
} from '../../objects/index.ts';
import { formerRevisions, type Rollout, rolloutOf, targetOf } from '../../serving/index.ts';
import { claimEvents, endedPods, exposeEvents, jobEvents, type MLModelFacts, podEvents, progress } from './facts.ts';
import { imageVolumes, manifest } from './imagefacts.ts';
import { lookOf } from './look.ts';
import type { MLModelClients } from './registry.ts';
import { askedRevision, isOutdated, type Revision } from './revision.ts';
import { serverName } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { sourceOf } from './source.ts';
import { stageOf } from './stage.ts';
import { type Plan, wanted } from './wanted.ts';
import { hasWeights, usersOf } from './volume.ts';
import { weightsOf } from './weights.ts';
import { statusOf } from './words.ts';

/** One pass: where is it, what should exist, what do we say. */
export function decide(pass: Pass<MLModel, MLModelFacts>, settings: MLModelSettings): Decision<MLModelStatus> {
  const { object: model, seen, facts, now } = pass;
  const plan = planOf(pass, settings);
  const { stage, left } = stageOf(model, plan, now);
  const status = statusOf({
    model,
    stage,
    plan,
    seen,
    facts,
    outdated: isOutdated(model, plan.asked, settings),
    exposure: settings.exposure,
  });
  const again = [left, plan.target?.left].filter((time) => time !== undefined);
  return { want: wanted(model, plan, seen, settings), status, ...(again.length > 0 && { again: Math.min(...again) }) };
}

function planOf({ object: model, seen, facts, now }: Pass<MLModel, MLModelFacts>, settings: MLModelSettings): Plan {
  const look = lookOf(model, seen, facts, settings);
  const source = look?.at === 'found' ? sourceOf(model, look.found) : sourceOf(model);
  const asked = askedRevision(model, seen, settings, source);
  const weights = look && look.at !== 'found' ? look : weightsOf(model, asked.source, seen, facts);
  const running = seen.get(Deployment, serverName(model));
  const rollout = rolloutOf(running, model.spec.replicas, { seen, podEvents: facts.podEvents });
  const canStart = (revision: Revision) => hasWeights(revision, seen);
  const isClearing = weights.at === 'leaving' && clears(asked, rollout, seen);
  const choice = { asked, isFed: weights.at === 'ready', canStart, isClearing, rollout };
  const target = targetOf(model.spec, choice, seen, now);
  const isReturnable = (one: Revision) => sharesVolume(one, asked) || canStart(one);
  const former = formerRevisions(model.spec, { asked, target: target?.revision, rollout, isReturnable }, seen);
  return { asked, weights, rollout, target, former };
}

/** Nothing answers, and servers that cannot start keep a volume from going that must be made anew. */
const clears = ({ source }: Revision, { serving }: Rollout, seen: Observed): boolean =>
  serving.length === 0 && usersOf(source.claim ?? '', 'server', seen).length > 0;

/** What shares the volume of what is asked gets its weights with it, if it has them not yet or not any more. */
const sharesVolume = ({ source }: Revision, asked: Revision): boolean =>
  asked.source.claim !== undefined && source.claim === asked.source.claim;

/** A Gateway API that is waited for; and one of which only the routes of another setting would have to be removed. */
const [awaited, cleanedUp] = [3_000, 600_000];

/** The controller, with what the operator's configuration decides. */
export const mlModelController = (
  settings: MLModelSettings,
): ControllerDefinition<MLModel, MLModelStatus, MLModelFacts, MLModelClients> =>
  defineController({
    kind: MLModel,
    conditions: MLModel.definition.conditions ?? [],
    failedPhase: 'Failed',
    leavingPhase: 'Terminating',
    owns: [
      ControllerRevision,
      PersistentVolumeClaim,
      Job,
      Deployment,
      Service,
      PodDisruptionBudget,
      Ingress,
      HTTPRoute,
    ],
    mayLack: [{ kind: HTTPRoute, noticedWithin: settings.exposure.by === 'Gateway' ? awaited : cleanedUp }],
    labelled: [Pod],
    reads: [PersistentVolumeClaim, StorageClass],
    gather: {
      progress,
      claimEvents,
      podEvents,
      jobEvents,
      exposeEvents,
      endedPods,
      manifest,
      imageVolumes: imageVolumes(settings),
    },
    decide: (pass) => decide(pass, settings),
  });
