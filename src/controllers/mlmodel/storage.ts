// The volume for the weights of one source, and the Job that fills it. Both are named by the source, so an edit makes new
// ones beside the old, and a restart finds its own work.

import { childName, downloadArguments, exitCode, mark, MLModel, partLabels } from '../../api/index.ts';
import { Job, type KubeObject, label, PersistentVolumeClaim } from '../../objects/index.ts';
import { containerBasics, defined, podBasics, together } from './pod.ts';
import type { MLModelSettings } from './settings.ts';
import type { Source } from './source.ts';

type Download = Extract<Source, { from: 'download' }>;

const target = '/weights';

/** What a claim asks for. A class is named only when it is made: it cannot be changed, and so must not be taken back. */
export interface Volume {
  size: string | number;
  storageClassName: string | undefined;
}

/** The claim of a source. */
export const weightsClaim = (model: MLModel, source: Download, volume: Volume): PersistentVolumeClaim => ({
  apiVersion: PersistentVolumeClaim.apiVersion,
  kind: PersistentVolumeClaim.kind,
  metadata: {
    name: source.claim,
    labels: {
      ...partLabels(MLModel.kind, model.metadata.name, 'weights'),
      [mark.weights]: source.weights,
      ...(model.spec.retain && { [label.retained]: source.weights }),
    },
  },
  spec: {
    accessModes: [model.spec.accessMode],
    resources: { requests: { storage: String(volume.size) } },
    ...(volume.storageClassName !== undefined && { storageClassName: volume.storageClassName }),
  },
});

/** A claim that is there, marked to go or to stay as the model says now. */
export function retainedAs({ spec }: MLModel, claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { [label.retained]: _former, ...labels } = claim.metadata.labels ?? {};
  const { [mark.weights]: weights = claim.metadata.name } = labels;
  const marks = spec.retain ? { ...labels, [label.retained]: weights } : labels;
  return { ...claim, metadata: { ...claim.metadata, labels: marks } };
}

export const downloadName = ({ metadata }: MLModel, { weights }: Download, attempt: string): string =>
  childName(metadata.name, `download-${weights}-${attempt}`);

/** The Job that fills the claim. Its end is judged by exit codes: a verdict is final, a fault of the network is retried. */
export function downloadJob(model: MLModel, source: Download, attempt: string, settings: MLModelSettings): Job {
  const labels = { ...partLabels(MLModel.kind, model.metadata.name, 'download'), [mark.weights]: source.claim };
  return {
    apiVersion: Job.apiVersion,
    kind: Job.kind,
    metadata: { name: downloadName(model, source, attempt), labels, annotations: { [mark.attempt]: attempt } },
    spec: {
      backoffLimit: 6,
      podReplacementPolicy: 'Failed',
      podFailurePolicy: {
        rules: [
          { action: 'FailJob', onExitCodes: { containerName: 'download', operator: 'In', values: [exitCode.verdict] } },
          { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        ],
      },
      template: { metadata: podMetadata(model, labels), spec: podSpec(model, source, settings) },
    },
  };
}

const podMetadata = (
  { spec }: MLModel,
  labels: Record<string, string>,
): Pick<KubeObject['metadata'], 'labels' | 'annotations'> => ({
  labels: { ...spec.podLabels, ...labels },
  ...defined({ annotations: spec.podAnnotations }),
});

function podSpec(model: MLModel, source: Download, settings: MLModelSettings) {
  const { modelURL, framework, digest, credentials } = model.spec;
  return {
    ...podBasics(model),
    ...together(model, source),
    restartPolicy: 'Never',
    containers: [
      {
        ...containerBasics,
        name: 'download',
        image: settings.image,
        args: downloadArguments({ url: modelURL, target, framework, ...(digest !== undefined && { digest }) }),
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
        volumeMounts: [
          { name: 'weights', mountPath: target },
          { name: 'scratch', mountPath: '/tmp' },
          ...(credentials === undefined ? [] : [{ name: 'credentials', mountPath: '/credentials', readOnly: true }]),
        ],
      },
    ],
    volumes: [
      { name: 'weights', persistentVolumeClaim: { claimName: source.claim } },
      { name: 'scratch', emptyDir: { sizeLimit: '64Mi' } },
      ...(credentials === undefined ? [] : [{ name: 'credentials', secret: { secretName: credentials } }]),
    ],
  };
}
