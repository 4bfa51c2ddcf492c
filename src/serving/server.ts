// The servers of a revision: their container, their pods, and the Deployment that runs them. What differs between kinds is
// handed in; how a server is probed, drained and replaced is the same for all.

import { mark } from '../api/index.ts';
import { type Container, Deployment, type PodSpec, type PodTemplate } from '../objects/index.ts';
import type { Named, Served, Sized } from './parent.ts';
import { containerBasics, defined, podBasics, pullPolicyOf, scratch, variablesOf } from './pod.ts';
import type { Revision } from './revision.ts';

/**
 * How a revision takes over: beside the old one, one by one in its place, or all at once in its place, because a person
 * asks for that or because the servers move to another node, where none may start before the last has left the old one.
 */
export type Takeover = 'surge' | 'oneByOne' | 'replace' | 'move';

const strategies: Record<Takeover, { maxSurge: number | string; maxUnavailable: number | string }> = {
  surge: { maxSurge: 1, maxUnavailable: 0 },
  oneByOne: { maxSurge: 0, maxUnavailable: 1 },
  replace: { maxSurge: 0, maxUnavailable: '100%' },
  move: { maxSurge: 0, maxUnavailable: '100%' },
};

/** Seconds in which a pod that goes is taken out of every list of endpoints before it stops answering. */
const drain = 5;

/** How many servers, by which way, and what served before. */
export interface Running {
  replicas: number;
  takeover: Takeover;
  /** Revisions that have taken over completely before, the last first. */
  served: readonly string[];
}

/** The Deployment of a revision. Its labels are those of its pods, and never change, or it could not be applied. */
export const serverDeployment = (
  { name, labels, annotations }: Named,
  { progressDeadlineSeconds }: Sized['rollout'],
  revision: Pick<Revision, 'name' | 'template'>,
  { replicas, takeover, served }: Running,
): Deployment => ({
  apiVersion: Deployment.apiVersion,
  kind: Deployment.kind,
  metadata: {
    name,
    labels,
    annotations: {
      ...annotations,
      [mark.revision]: revision.name,
      [mark.rollout]: takeover,
      [mark.served]: served.join(','),
    },
  },
  spec: {
    replicas,
    revisionHistoryLimit: 2,
    progressDeadlineSeconds,
    selector: { matchLabels: labels },
    strategy: { type: 'RollingUpdate', rollingUpdate: strategies[takeover] },
    template: revision.template,
  },
});

/** What a kind decides of its servers. */
export interface Program {
  image: string;
  command?: readonly string[];
  args?: readonly string[];
  env: Readonly<Record<string, string>>;
  port: number;
  healthPath: string;
  /** Folders that it must be able to write; each becomes an empty one of its own. */
  writable: readonly string[];
  volumes?: readonly { name: string; [source: string]: unknown }[];
  mounts?: readonly { name: string; [field: string]: unknown }[];
  /** What differs in the probes; a server lives if its port takes connections, unless another check is named. */
  probes?: { readiness: object; liveness: object };
  /** Labels and annotations of its pods. */
  labels: Record<string, string>;
  annotations: Record<string, string> | undefined;
  /** Further fields of its pods. */
  pod?: Partial<PodSpec>;
}

/** The pods of a revision. */
export function serverPods({ spec }: Served, program: Program): PodTemplate {
  const { labels, annotations, pod, volumes = [], writable } = program;
  return {
    metadata: { labels: { ...spec.podLabels, ...labels }, ...(annotations && { annotations }) },
    spec: {
      ...podBasics(spec),
      ...pod,
      // Named always: an account that is only left out would stay, in the field that is its former name.
      serviceAccountName: spec.serviceAccountName ?? 'default',
      terminationGracePeriodSeconds: 30 + drain,
      containers: [container(spec, program)],
      volumes: [...volumes, ...writable.map(scratch)],
    },
  };
}

function container({ resources, env, rollout }: Served['spec'], program: Program): Container {
  const { image, command, args, port, healthPath, mounts = [], writable, probes } = program;
  const probe = { httpGet: { path: healthPath, port: 'http' }, periodSeconds: 5, timeoutSeconds: 5 };
  return {
    ...containerBasics,
    name: 'server',
    image,
    imagePullPolicy: pullPolicyOf(image),
    ...defined({ command: command && [...command], args: args && [...args] }),
    env: variablesOf(program.env, env),
    ports: [{ name: 'http', containerPort: port }],
    resources: {
      ...resources,
      requests: { cpu: '100m', memory: '256Mi', ...resources?.limits, ...resources?.requests },
    },
    // Every second: a server that is up is not to wait for its next turn. How long it may take is the deadline's affair.
    startupProbe: { ...probe, periodSeconds: 1, failureThreshold: rollout.progressDeadlineSeconds },
    readinessProbe: { ...probe, failureThreshold: 2, ...probes?.readiness },
    livenessProbe: { periodSeconds: 10, failureThreshold: 6, ...(probes?.liveness ?? { tcpSocket: { port: 'http' } }) },
    lifecycle: { preStop: { sleep: { seconds: drain } } },
    volumeMounts: [...mounts, ...writable.map((mountPath, index) => ({ name: `scratch-${index}`, mountPath }))],
  };
}
