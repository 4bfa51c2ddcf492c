// The servers: the pod template of a revision, and the Deployment that runs it.

import { childName, labelValue, mark, MLModel, partLabels } from '../../api/index.ts';
import { archLabel, builtFor, type Container, Deployment, type PodTemplate } from '../../objects/index.ts';
import { type Framework, modelPath } from './frameworks.ts';
import type { Program } from './job.ts';
import { annotated, containerBasics, defined, podBasics, pullPolicyOf, together } from './pod.ts';
import type { Revision } from './revision.ts';
import type { MLModelSettings } from './settings.ts';
import { imageOf, type Located } from './source.ts';

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

export const serverName = ({ metadata }: MLModel): string => childName(metadata.name, 'server');

/** The labels by which the servers are found; they never change, or the Deployment could not be applied. */
export const serverLabels = ({ metadata }: MLModel): Record<string, string> =>
  partLabels(MLModel.kind, metadata.name, 'server');

/** How many servers, by which way, and what served before. */
export interface Running {
  replicas: number;
  takeover: Takeover;
  /** Revisions that have taken over completely before, the last first. */
  served: readonly string[];
}

/** The Deployment of a revision. */
export const server = (
  model: MLModel,
  { name, template }: Pick<Revision, 'name' | 'template'>,
  { replicas, takeover, served }: Running,
): Deployment => ({
  apiVersion: Deployment.apiVersion,
  kind: Deployment.kind,
  metadata: {
    name: serverName(model),
    labels: serverLabels(model),
    annotations: { [mark.revision]: name, [mark.rollout]: takeover, [mark.served]: served.join(',') },
  },
  spec: {
    replicas,
    revisionHistoryLimit: 2,
    progressDeadlineSeconds: model.spec.rollout.progressDeadlineSeconds,
    selector: { matchLabels: serverLabels(model) },
    strategy: { type: 'RollingUpdate', rollingUpdate: strategies[takeover] },
    template,
  },
});

/** The pods of a revision, and the port on which they answer. */
export function renderTemplate(
  model: MLModel,
  revision: string,
  source: Located,
  settings: MLModelSettings,
): { template: PodTemplate; port: number } {
  const row = rowFor(model, settings);
  const nodes = nodesFor(model, settings);
  const labels = {
    ...model.spec.podLabels,
    ...serverLabels(model),
    [mark.revision]: revision,
    ...(source.claim !== undefined && { [mark.weights]: labelValue(source.claim) }),
  };
  const template: PodTemplate = {
    metadata: { labels, ...annotated(model, { ...nodes.annotations, ...weightsOf(source) }) },
    spec: {
      ...podBasics(model),
      ...nodes.pod,
      // Named always: an account that is only left out would stay, in the field that is its former name.
      serviceAccountName: model.spec.serviceAccountName ?? 'default',
      ...together(model, source),
      terminationGracePeriodSeconds: 30 + drain,
      containers: [container(model, row, source)],
      volumes: [weightsVolume(source), ...row.writable.map(scratch)],
    },
  };
  return { template, port: row.port };
}

/** An empty folder; what is a device elsewhere is memory here, too. */
const scratch = (path: string, index: number) => ({
  name: `scratch-${index}`,
  emptyDir: path.startsWith('/dev/') ? { medium: 'Memory' } : {},
});

/** Nodes for which the server's image is built, beside what a person asks; the pod says that it is we who ask. */
export function nodesFor(model: MLModel, settings: MLModelSettings): Pick<Program, 'annotations' | 'pod'> {
  const arch = archFor(model, settings);
  if (arch === undefined) return {};
  const nodeSelector = { ...model.spec.nodeSelector, [archLabel]: arch };
  return { annotations: { [builtFor]: arch }, pod: { nodeSelector } };
}

/** A person's own image may be built for any, and what they say of nodes goes before the row. */
function archFor({ spec }: MLModel, { frameworks }: MLModelSettings): string | undefined {
  const theirs = spec.server?.image ?? spec.nodeSelector?.[archLabel];
  return theirs === undefined ? frameworks[spec.framework]?.arch : undefined;
}

/** Weights are mounted, never copied into the pod; an image is pulled once by each node. */
function weightsVolume(source: Located): { name: string; [kind: string]: unknown } {
  const name = 'weights';
  if (source.from === 'image') return { name, image: { reference: source.image, pullPolicy: 'IfNotPresent' } };
  return { name, persistentVolumeClaim: { claimName: source.claim, readOnly: true } };
}

/** A pod says by digest which image its weights are from, in whatever way they reached it. */
function weightsOf(source: Located): Record<string, string> {
  const image = imageOf(source);
  return image === undefined ? {} : { [mark.image]: image };
}

/** The port on which servers of a model answer. */
export const portOf = (model: MLModel, settings: MLModelSettings): number => rowFor(model, settings).port;

/** The claim that a server mounts. */
export const claimIn = ({ volumes }: PodTemplate['spec']): string | undefined =>
  (volumes as { persistentVolumeClaim?: { claimName: string } }[] | undefined)?.find(
    ({ persistentVolumeClaim }) => persistentVolumeClaim,
  )?.persistentVolumeClaim?.claimName;

/** The framework's row, with what the model overrides. */
function rowFor({ spec }: MLModel, { frameworks }: MLModelSettings): Framework {
  const { image, command, args, port, healthPath } = spec.server ?? {};
  const row = frameworks[spec.framework] ?? { image: '', args: [], port: 0, healthPath: '/', writable: ['/tmp'] };
  return { ...row, ...(defined({ image, command, args, port, healthPath }) as Partial<Framework>) };
}

function container(model: MLModel, row: Framework, source: Located): Container {
  const { resources, env, rollout } = model.spec;
  const probe = { httpGet: { path: row.healthPath, port: 'http' }, periodSeconds: 5, timeoutSeconds: 5 };
  return {
    ...containerBasics,
    name: 'server',
    image: row.image,
    imagePullPolicy: pullPolicyOf(row.image),
    ...defined({ command: row.command && [...row.command] }),
    args: row.args.map((arg) => arg.replaceAll('{model}', modelPath)),
    env: variablesOf(row, env),
    ports: [{ name: 'http', containerPort: row.port }],
    resources: {
      ...resources,
      requests: { cpu: '100m', memory: '256Mi', ...resources?.limits, ...resources?.requests },
    },
    // Every second: a server that is up is not to wait for its next turn. How long it may take is the deadline's affair.
    startupProbe: { ...probe, periodSeconds: 1, failureThreshold: rollout.progressDeadlineSeconds },
    readinessProbe: { ...probe, failureThreshold: 2 },
    livenessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 10, failureThreshold: 6 },
    lifecycle: { preStop: { sleep: { seconds: drain } } },
    volumeMounts: [
      {
        name: 'weights',
        mountPath: modelPath,
        readOnly: true,
        ...(source.from === 'claim' && source.path !== '' && { subPath: source.path }),
      },
      ...row.writable.map((mountPath, index) => ({ name: `scratch-${index}`, mountPath })),
    ],
  };
}

type Variables = NonNullable<MLModel['spec']['env']>;

/** What the framework's server needs, unless a person says otherwise; then what they say. */
function variablesOf({ env = {} }: Framework, asked: Variables = []) {
  const own = Object.entries(env).filter(([name]) => !asked.some((one) => one.name === name));
  return [...own.map(([name, value]) => ({ name, value })), ...asked.map(variable)];
}

const variable = ({ name, value, secret }: Variables[number]) =>
  secret ? { name, valueFrom: { secretKeyRef: secret } } : { name, value: value ?? '' };
