// What should exist, given where everything is, in the order of the writes.

import type { ModelDeployment } from '../../api/index.ts';
import { apply, create, type Desired, keep, type Observed } from '../../kube/define.ts';
import { Deployment, Service } from '../../objects/index.ts';
import {
  budget,
  clusterService,
  objectsOf,
  type ProgramSettings,
  revisionObject,
  type Rollout,
  serverDeployment,
  type Target,
} from '../../serving/index.ts';
import { autoscalerOf } from './autoscaler.ts';
import { type Look, resolveJob } from './image.ts';
import type { Revision } from './revision.ts';
import { annotated, modelName, named, serverLabels } from './server.ts';

export interface Plan {
  asked: Revision;
  look: Look;
  /** What the servers should run: what is asked once its image is known, until then what they run. */
  target: Target<Revision> | undefined;
  rollout: Rollout;
  /** Former revisions that are kept. */
  former: Revision[];
}

/** All children. */
export const wanted = (object: ModelDeployment, plan: Plan, seen: Observed, settings: ProgramSettings): Desired[] => [
  ...revision(object, plan, settings),
  ...servers(object, plan, seen),
  ...network(object, plan, seen),
  ...objectsOf(plan.former, seen).map(keep),
];

/** A revision is cut when its image is known. Until then a Job may be looking for it. */
function revision(object: ModelDeployment, { asked, look }: Plan, settings: ProgramSettings): Desired[] {
  if (look.at === 'found') return [create(revisionObject(object, asked))];
  return look.inspecting ? [create(resolveJob(object, settings))] : [];
}

/** Of servers whose revision nobody knows any more, nothing is known to be wrong. */
function servers(object: ModelDeployment, { target }: Plan, seen: Observed): Desired[] {
  if (target) return [apply(serverDeployment(annotated(object), object.spec.rollout, target.revision, target))];
  const running = seen.get(Deployment, modelName(object));
  return running ? [keep(running)] : [];
}

/** An address that was given out once stays. */
function network(object: ModelDeployment, { asked, target }: Plan, seen: Observed): Desired[] {
  if (!target && !seen.get(Service, modelName(object))) return [];
  const { port } = target?.revision ?? asked;
  const labels = serverLabels(object);
  const autoscaler = autoscalerOf(object);
  return [
    apply(clusterService(annotated(object), labels, port)),
    ...(autoscaler ? [apply(autoscaler)] : []),
    ...(object.spec.replicas > 1 ? [apply(budget(named(object), labels, 1))] : []),
  ];
}
