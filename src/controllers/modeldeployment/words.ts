// What a person is told of a ModelDeployment. Same world, same words.

import type { ModelDeployment, ModelDeploymentStatus } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { Deployment, Service } from '../../objects/index.ts';
import {
  commonStatusOf,
  failure,
  gap,
  meanwhile,
  outdatedVerdict,
  reasonOf,
  selectorOf,
  servingRevision,
  type Stage,
  summaryOf,
  type Verdict,
  verdict,
} from '../../serving/index.ts';
import { autoscaledOf } from './autoscaler.ts';
import { modelName, serverLabels } from './server.ts';
import type { Plan } from './wanted.ts';

export interface Told {
  object: ModelDeployment;
  stage: Stage<'Processing'>;
  plan: Plan;
  seen: Observed;
  outdated: boolean;
}

/** The whole status. */
export function statusOf(told: Told): ModelDeploymentStatus {
  const { object, plan, stage, seen } = told;
  const { asked, rollout } = plan;
  const serving = servingRevision(rollout);
  const digest = asked.image?.split('@')[1];
  return {
    ...commonStatusOf(object, { phase: stage.name, message: messageOf(told), verdicts: verdicts(told) }),
    ...placesOf(object, plan, seen),
    revision: asked.name,
    ...(serving !== undefined && { lastRevisionName: serving }),
    ...(digest !== undefined && { digest }),
    replicas: rollout.replicas,
    availableReplicas: rollout.available,
    selector: selectorOf(serverLabels(object)),
    history: plan.former.map(({ name }) => name),
  };
}

/** What exists, and where it answers. */
function placesOf(
  object: ModelDeployment,
  { target, asked }: Plan,
  seen: Observed,
): Pick<ModelDeploymentStatus, 'deployment' | 'service' | 'serviceURL'> {
  const name = modelName(object);
  const { port } = target?.revision ?? asked;
  const serviceURL = `http://${name}.${object.metadata.namespace}.svc.cluster.local:${port}`;
  return {
    ...(seen.get(Deployment, name) && { deployment: name }),
    ...(seen.get(Service, name) && { service: name, serviceURL }),
  };
}

/** The sentence. */
function messageOf({ stage, plan: { asked, look, rollout }, object }: Told): string {
  if (stage.name === 'Failed') return failure(stage, rollout);
  if (stage.name === 'Ready') return stage.idle ? 'Scaled to zero: nothing serves' : 'The model is served';
  const until = meanwhile(asked.name, rollout);
  if (look.at === 'found')
    return `${stage.cause?.message ?? 'The servers are starting'}${gap(rollout, object.spec)}${until}`;
  return `${stage.cause?.message ?? (look.inspecting ? inspecting : 'The image is being looked at')}${until}`;
}

const inspecting = 'A Job looks at the image, because its registry may want to know who asks';

/** All conditions, the summary first. */
function verdicts(told: Told): Verdict[] {
  const { stage, plan, outdated, object, seen } = told;
  const message = messageOf(told);
  return [
    ...summaryOf({ stage, message, spec: object.spec, rollout: plan.rollout }),
    resolved(plan),
    verdict('Serving', stage.name === 'Ready' && !stage.idle, reasonOf(stage), message),
    autoscaledOf(object, seen),
    outdatedVerdict(outdated, 'ModelDeployment'),
  ];
}

function resolved({ look }: Plan): Verdict {
  if (look.at === 'found') return verdict('Resolved', true, 'Resolved', `The image is ${look.image}`);
  const { reason, message } = look.cause ?? { reason: 'Looking', message: 'It is not known yet what the image is' };
  return verdict('Resolved', false, reason, message);
}
