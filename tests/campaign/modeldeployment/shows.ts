// Where the properties of a ModelDeployment show that do not show as they are, and what it promises when it says Ready.

import { mark, type ModelDeployment } from '../../../src/api/index.ts';
import { revisionName } from '../../../src/controllers/modeldeployment/index.ts';
import {
  Deployment,
  HorizontalPodAutoscaler,
  type Kind,
  type KubeObject,
  sameQuantity,
} from '../../../src/objects/index.ts';
import type { World } from '../../kit/subject.ts';
import type { Shows } from '../meaning.ts';
import { isInPods } from '../podfields.ts';
import { rolloutShows, serversLack } from '../servers.ts';
import { flat } from '../state.ts';

const nameOf = ({ metadata }: KubeObject): string => `${metadata.name}-model`;

const servedBy = (parent: ModelDeployment, now: World): Deployment | undefined => now.get(Deployment, nameOf(parent));

const container = (parent: ModelDeployment, now: World) => servedBy(parent, now)?.spec.template.spec.containers[0];

/** How many servers are meant. */
function sizeOf({ spec: { replicas, minReplicas, maxReplicas } }: ModelDeployment): number {
  if (replicas === 0 || (minReplicas === undefined && maxReplicas === undefined)) return replicas;
  return Math.min(Math.max(replicas, minReplicas ?? 1, 1), maxReplicas ?? 1);
}

/** The API server writes 100000 as 100k. */
const isAim = (leaf: string, aim: number): boolean => sameQuantity(leaf.replaceAll('"', ''), aim);

/** Whether the autoscaler is as asked, or is not there. */
const scales: Shows<ModelDeployment> = (_value, { parent, now }) => {
  const { minReplicas, maxReplicas, target } = parent.spec;
  const made = now.get(HorizontalPodAutoscaler, nameOf(parent))?.spec;
  if (minReplicas === undefined && maxReplicas === undefined) return made === undefined;
  const aim = target?.concurrency ?? target?.cpu ?? 80;
  return (
    made?.minReplicas === Math.max(1, minReplicas ?? 1) &&
    made.maxReplicas === (maxReplicas ?? 1) &&
    flat(made.metrics).some(([path, leaf]) => path.includes('.target.average') && isAim(leaf, aim)) &&
    sizeOf(parent) === servedBy(parent, now)?.spec.replicas
  );
};

/** Whether a probe waits as long as asked; no time at all is left out. */
const waits =
  (probe: 'livenessProbe' | 'readinessProbe'): Shows<ModelDeployment> =>
  (value, { parent, now }) => {
    const { initialDelaySeconds = 0 } = (container(parent, now)?.[probe] ?? {}) as { initialDelaySeconds?: number };
    return initialDelaySeconds === (value ?? 2);
  };

/** The name of a pinned image as nodes are told it: without a tag, and with the registry that a short one means. */
const asTold = (image: string): string =>
  image.replace(/:[^/:@]*@/, '@').replace(/^(?![^/]*[.:][^/]*\/)/, 'docker.io/');

export const shows: Record<string, Shows<ModelDeployment>> = {
  'spec.image': (_value, { parent, now }) =>
    servedBy(parent, now)?.metadata.annotations?.[mark.revision] === revisionName(parent) &&
    container(parent, now)?.image === asTold(parent.spec.image),
  'spec.replicas': (_value, { parent, now }) => servedBy(parent, now)?.spec.replicas === sizeOf(parent),
  'spec.minReplicas': scales,
  'spec.maxReplicas': scales,
  'spec.target.cpu': scales,
  'spec.target.concurrency': scales,
  'spec.livenessProbeInitialDelay': waits('livenessProbe'),
  'spec.readinessProbeInitialDelay': waits('readinessProbe'),
  ...rolloutShows(servedBy),
};

/** The children in which a property shows as it is. */
export const bearers = (path: string): readonly Kind[] =>
  isInPods(path) || /^spec\.(annotations|port|healthPath)/.test(path) ? [Deployment] : [];

/** What Ready promises. */
export const lacks = (parent: ModelDeployment, now: World): string[] =>
  serversLack(parent, now, {
    running: servedBy(parent, now),
    replicas: sizeOf(parent),
    revision: revisionName(parent),
    service: { name: nameOf(parent), address: parent.status?.serviceURL },
  });
