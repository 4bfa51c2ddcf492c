// A ModelDeployment: its image is looked up once for each revision, then a Deployment runs it by digest. What serves goes
// on serving until what is asked for is ready. Everything here is a pure function of what the cache saw.

import { ModelDeployment, type ModelDeploymentStatus } from '../../api/index.ts';
import { type ControllerDefinition, type Decision, defineController, type Pass } from '../../kube/define.ts';
import {
  ControllerRevision,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../objects/index.ts';
import {
  bounded,
  formerRevisions,
  isOutdated,
  type ProgramSettings,
  type RegistryClients,
  rolloutOf,
  servingStage,
  type Standing,
  targetOf,
} from '../../serving/index.ts';
import { sized } from './autoscaler.ts';
import { gather, type ModelDeploymentFacts } from './facts.ts';
import { lookOf } from './image.ts';
import { askedRevision, cut } from './revision.ts';
import { modelName } from './server.ts';
import { type Plan, wanted } from './wanted.ts';
import { statusOf } from './words.ts';

type Seen = Pass<ModelDeployment, ModelDeploymentFacts>;

/** One pass: where is it, what should exist, what do we say. */
export function decide(pass: Seen, settings: ProgramSettings): Decision<ModelDeploymentStatus> {
  const object = sized(pass.object);
  const { seen, now } = pass;
  const plan = planOf({ ...pass, object });
  const { stage, left } = stageOf(object, plan, now);
  const outdated = isOutdated(object, plan.asked, (then) => cut(then, plan.asked.number, plan.asked.image));
  const again = [left, plan.target?.left].filter((time) => time !== undefined);
  return {
    want: wanted(object, plan, seen, settings),
    status: statusOf({ object, stage, plan, seen, outdated }),
    ...(again.length > 0 && { again: Math.min(...again) }),
  };
}

function planOf({ object, seen, facts, now }: Seen): Plan {
  const look = lookOf(object, seen, facts);
  const isFed = look.at === 'found';
  const asked = askedRevision(object, seen, isFed ? look.image : undefined);
  const running = seen.get(Deployment, modelName(object));
  const rollout = rolloutOf(running, object.spec.replicas, { seen, podEvents: facts.podEvents });
  // Nodes pull what they need: every stored revision can start.
  const always = () => true;
  const target = targetOf(object.spec, { asked, isFed, canStart: always, isClearing: false, rollout }, seen, now);
  const present = { asked, target: target?.revision, rollout, isReturnable: always };
  return { look, asked, rollout, target, former: formerRevisions(object.spec, present, seen) };
}

function stageOf({ spec }: ModelDeployment, { look, asked, rollout }: Plan, now: number): Standing<'Processing'> {
  if (look.at === 'unread') return { stage: { name: 'Failed', cause: look.cause } };
  if (look.at === 'found') return servingStage('Processing', { spec, asked: asked.name, rollout, now });
  const { cause, since, late } = look;
  return bounded({ name: 'Processing', cause }, { since, late, seconds: spec.rollout.progressDeadlineSeconds, now });
}

/** The controller, with what the operator's configuration decides. */
export const modelDeploymentController = (
  settings: ProgramSettings,
): ControllerDefinition<ModelDeployment, ModelDeploymentStatus, ModelDeploymentFacts, RegistryClients> =>
  defineController({
    kind: ModelDeployment,
    conditions: ModelDeployment.definition.conditions ?? [],
    failedPhase: 'Failed',
    leavingPhase: 'Deleting',
    owns: [ControllerRevision, Job, Deployment, Service, HorizontalPodAutoscaler, PodDisruptionBudget],
    labelled: [Pod],
    gather,
    decide: (pass) => decide(pass, settings),
  });
