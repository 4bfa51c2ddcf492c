// The servers of a model: the pods of a revision with the weights mounted, and the Deployment that runs them.

import { childName, labelValue, mark, MLModel, partLabels } from '../../api/index.ts';
import { archLabel, builtFor, type Deployment, type PodTemplate } from '../../objects/index.ts';
import {
  annotationsOf,
  defined,
  type Running,
  serverDeployment,
  serverPods,
  type Takeover,
  type Task,
} from '../../serving/index.ts';
import { type Framework, modelPath } from './frameworks.ts';
import { together } from './pod.ts';
import type { Revision } from './revision.ts';
import type { MLModelSettings } from './settings.ts';
import { imageOf, type Located } from './source.ts';

export type { Takeover };

export const serverName = ({ metadata }: MLModel): string => childName(metadata.name, 'server');

/** The labels by which the servers are found. */
export const serverLabels = ({ metadata }: MLModel): Record<string, string> =>
  partLabels(MLModel.kind, metadata.name, 'server');

/** The Deployment of a revision. */
export const server = (model: MLModel, revision: Pick<Revision, 'name' | 'template'>, running: Running): Deployment =>
  serverDeployment({ name: serverName(model), labels: serverLabels(model) }, model.spec.rollout, revision, running);

/** The pods of a revision, and the port on which they answer. */
export function renderTemplate(
  model: MLModel,
  revision: string,
  source: Located,
  settings: MLModelSettings,
): { template: PodTemplate; port: number } {
  const row = rowFor(model, settings);
  const nodes = nodesFor(model, settings);
  const template = serverPods(model, {
    ...row,
    args: row.args.map((arg) => arg.replaceAll('{model}', modelPath)),
    env: row.env ?? {},
    labels: {
      ...serverLabels(model),
      [mark.revision]: revision,
      ...(source.claim !== undefined && { [mark.weights]: labelValue(source.claim) }),
    },
    annotations: annotationsOf(model.spec, { ...nodes.annotations, ...weightsOf(source) }),
    pod: { ...nodes.pod, ...together(model, source) },
    volumes: [weightsVolume(source)],
    mounts: [weightsMount(source)],
  });
  return { template, port: row.port };
}

/** Nodes for which the server's image is built, beside what a person asks; the pod says that it is we who ask. */
export function nodesFor(model: MLModel, settings: MLModelSettings): Pick<Task, 'annotations' | 'pod'> {
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

const weightsMount = (source: Located) => ({
  name: 'weights',
  mountPath: modelPath,
  readOnly: true,
  ...(source.from === 'claim' && source.path !== '' && { subPath: source.path }),
});

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
