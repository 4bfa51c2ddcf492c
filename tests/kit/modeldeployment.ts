// A ModelDeployment and its children at every point of their lives, for tests of the pure controller. Children come from
// the controller's own builders, so that names and labels are right by construction.

import { type LastWord, mark, ModelDeployment, type ModelDeploymentStatus } from '../../src/api/index.ts';
import {
  annotated,
  cut,
  decide,
  type ModelDeploymentFacts,
  resolveJob,
  serverLabels,
} from '../../src/controllers/modeldeployment/index.ts';
import type { Decision, Facts, Observed } from '../../src/kube/define.ts';
import type { ControllerRevision, Deployment, Job, Pod } from '../../src/objects/index.ts';
import { type ProgramSettings, type Resolved, revisionObject, serverDeployment } from '../../src/serving/index.ts';
import { ended, programPod, readyStatus, type Result } from './mlmodel.ts';
import { now } from './plans.ts';

export const settings: ProgramSettings = { image: 'baton:1', egressDeny: [], plainRegistries: [] };

export const digest = `sha256:${'1'.repeat(64)}`;

/** One as the API server would hand it out, with every default. */
export function aDeployment(
  spec: Partial<ModelDeployment['spec']> = {},
  metadata: Partial<ModelDeployment['metadata']> = {},
): ModelDeployment {
  return {
    apiVersion: ModelDeployment.apiVersion,
    kind: ModelDeployment.kind,
    metadata: { name: 'iris', namespace: 'shop', uid: 'uid-iris', generation: 1, ...metadata },
    spec: {
      image: 'registry.example/iris:1',
      replicas: 1,
      livenessProbeInitialDelay: 2,
      readinessProbeInitialDelay: 2,
      port: 5000,
      healthPath: '/healthcheck',
      rollout: { strategy: 'auto', progressDeadlineSeconds: 600, history: 1 },
      ...spec,
    },
  };
}

const pinned = ({ spec }: ModelDeployment): string => `${spec.image.split(/[:@]/)[0]}@${digest}`;
const rendered = (object: ModelDeployment, number = 1) => cut(object, number, pinned(object));

/** The stored revision. */
export const revision = (object: ModelDeployment, number = 1): ControllerRevision =>
  revisionObject(object, rendered(object, number));

/** The Deployment of a revision with so many servers available. */
export function deployment(object: ModelDeployment, available = object.spec.replicas): Deployment {
  const { replicas, rollout } = object.spec;
  const running = { replicas, takeover: 'surge', served: [] } as const;
  const made = serverDeployment(annotated(object), rollout, rendered(object), running);
  const count = { replicas, updatedReplicas: replicas, readyReplicas: available, availableReplicas: available };
  return { ...made, metadata: { ...made.metadata, generation: 1 }, status: { observedGeneration: 1, ...count } };
}

/** One server of a revision. */
export function serverPod(object: ModelDeployment, status: Pod['status'] = readyStatus): Pod {
  const { template } = rendered(object);
  const name = `iris-model-${template.metadata?.labels?.[mark.revision]}`;
  const labels = { ...serverLabels(object), ...template.metadata?.labels };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', labels }, spec: template.spec, status };
}

/** The Job that looks at the image, and its pod. */
export const resolution = (object: ModelDeployment, result: Result = 'running'): Job =>
  ended(resolveJob(object, settings), result);
export const resolvePod = (object: ModelDeployment, word?: LastWord): Pod => programPod(resolution(object), word);

/** Nothing is known from outside the cache. */
export const noFacts: Facts<ModelDeploymentFacts> = {
  podEvents: { state: 'unneeded' },
  jobEvents: { state: 'unneeded' },
  endedPods: { state: 'unneeded' },
  manifest: { state: 'pending' },
};

/** What the registry answered. */
export const answered = (value: Resolved): Facts<ModelDeploymentFacts> => ({
  ...noFacts,
  manifest: { state: 'known', value },
});

/** What the controller decides. */
export const look = (object: ModelDeployment, seen: Observed, facts = noFacts): Decision<ModelDeploymentStatus> =>
  decide({ object, seen, facts, now }, settings);
