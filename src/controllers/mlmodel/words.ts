// What a person is told. Same world, same words: nothing from the clock, and only counts that were observed.

import type { MLModel, MLModelStatus, Progress } from '../../api/index.ts';
import type { Facts, Observed } from '../../kube/define.ts';
import {
  commonStatusOf,
  outdatedVerdict,
  reasonOf,
  selectorOf,
  servingRevision,
  summaryOf,
  type Verdict,
  verdict,
} from '../../serving/index.ts';
import { fetchedOnto } from './downloads.ts';
import { exposedOf } from './exposed.ts';
import type { Exposure } from './exposure.ts';
import type { MLModelFacts } from './facts.ts';
import { messageOf } from './message.ts';
import { serviceName } from './network.ts';
import { serverLabels } from './server.ts';
import type { Stage } from './stage.ts';
import { storageVerdicts } from './storagewords.ts';
import { hasWeights } from './volume.ts';
import type { Plan } from './wanted.ts';

export interface Told {
  model: MLModel;
  stage: Stage;
  plan: Plan;
  seen: Observed;
  facts: Facts<MLModelFacts>;
  outdated: boolean;
  exposure: Exposure;
}

/** The whole status of a model. */
export function statusOf(told: Told): MLModelStatus {
  const { model, plan, seen, facts, stage } = told;
  const { port } = plan.target?.revision ?? plan.asked;
  const serving = servingRevision(plan.rollout);
  const events = facts.exposeEvents.state === 'known' ? facts.exposeEvents.value : [];
  const exposed = exposedOf({ ...told, port, events, answers: plan.rollout.available > 0 });
  const serviceEndpoint = `${serviceName(model)}.${model.metadata.namespace}.svc.cluster.local:${port}`;
  return {
    ...commonStatusOf(model, {
      phase: stage.name,
      message: messageOf(told),
      verdicts: verdicts(told, exposed.verdict),
    }),
    serviceEndpoint,
    url: `http://${serviceEndpoint}`,
    ...(exposed.externalURL !== undefined && { externalURL: exposed.externalURL }),
    revision: plan.asked.name,
    ...(serving !== undefined && { servingRevision: serving }),
    ...(plan.weights.at === 'ready' && plan.weights.digest !== undefined && { digest: plan.weights.digest }),
    ...progressOf(told),
    replicas: plan.rollout.replicas,
    readyReplicas: plan.rollout.ready,
    selector: selectorOf(serverLabels(model)),
    ...(plan.asked.source.from !== 'registry' && {
      weightsPath: plan.asked.source.from === 'image' ? 'ImageVolume' : 'Claim',
    }),
    history: plan.former.filter((revision) => hasWeights(revision, seen)).map(({ name }) => name),
  };
}

/**
 * How far a download is. Nobody reads the log of one that has ended, while its Job has not: it said how much it fetched.
 * That is worth a word only where its progress was told before, and would seem to be lost.
 */
function progressOf({ plan: { weights, asked }, facts: { progress }, seen, model }: Told): {
  download?: NonNullable<MLModelStatus['download']>;
} {
  if (weights.at !== 'loading') return {};
  const heard: Progress | undefined = progress.state === 'known' ? progress.value : undefined;
  const told = heard ?? (model.status?.download && fetchedOnto(asked.source.claim ?? '', seen));
  if (!told) return {};
  const { bytes, total } = told;
  const percent = total === undefined || total === 0 ? undefined : Math.floor((bytes * 100) / total);
  return { download: { bytes, ...(total !== undefined && { total }), ...(percent !== undefined && { percent }) } };
}

/** All conditions, the summary first. */
function verdicts(told: Told, exposed: Verdict): Verdict[] {
  const { stage, plan, outdated, model } = told;
  const message = messageOf(told);
  return [
    ...summaryOf({ stage, message, spec: model.spec, rollout: plan.rollout }),
    ...storageVerdicts(told),
    verdict('Serving', stage.name === 'Ready' && !stage.idle, reasonOf(stage), message),
    exposed,
    outdatedVerdict(outdated, 'model'),
  ];
}
