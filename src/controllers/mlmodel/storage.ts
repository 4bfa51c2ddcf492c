// The volume for the weights of one source, and the Job that fills it. Both are named by the source, so an edit makes new
// ones beside the old, and a restart finds its own work.

import { childName, downloadArguments, mark, MLModel, partLabels } from '../../api/index.ts';
import { type Job, label, PersistentVolumeClaim } from '../../objects/index.ts';
import { programJob, sourceAccess } from '../../serving/index.ts';
import { together } from './pod.ts';
import { nodesFor } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { isImage, type Source, urlOf } from './source.ts';

/** A source that is fetched onto a claim. */
export type Download = Extract<Source, { from: 'download' }>;

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

const gibi = 1024 ** 3;

/** The size of a volume for which nobody names one: room for a copy of the image, for its growth and for the file system. */
export const sizeFor = ({ image }: Download): string =>
  `${Math.max(1, Math.ceil(((image?.bytes ?? 0) * 1.2) / gibi + 0.25))}Gi`;

/** A claim that is there, marked to go or to stay as the model says now. */
export function retainedAs({ spec }: MLModel, claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { [label.retained]: _former, ...labels } = claim.metadata.labels ?? {};
  const { [mark.weights]: weights = claim.metadata.name } = labels;
  const marks = spec.retain ? { ...labels, [label.retained]: weights } : labels;
  return { ...claim, metadata: { ...claim.metadata, labels: marks } };
}

export const downloadName = ({ metadata }: MLModel, { weights }: Download, attempt: string): string =>
  childName(metadata.name, `download-${weights}-${attempt}`);

/** The Job that fills the claim. */
export function downloadJob(model: MLModel, source: Download, attempt: string, settings: MLModelSettings): Job {
  const { framework, digest } = model.spec;
  const { access, mounts } = sourceAccess(model.spec, isImage(model) ? 'image' : 'other', settings);
  const order = { url: urlOf(model, source), target, framework, access };
  const nodes = nodesFor(model, settings);
  // The name of an image holds its digest already.
  const args = downloadArguments({ ...order, ...(digest !== undefined && !source.image && { digest }) });
  return programJob(
    model.spec,
    {
      name: downloadName(model, source, attempt),
      component: 'download',
      attempt,
      args,
      memory: '512Mi',
      labels: { ...partLabels(MLModel.kind, model.metadata.name, 'download'), [mark.weights]: source.claim },
      // The volume is to land where the server can run.
      ...nodes,
      pod: { ...nodes.pod, ...together(model, source) },
      mounts: [
        { volume: { name: 'weights', persistentVolumeClaim: { claimName: source.claim } }, path: target },
        ...mounts,
      ],
    },
    settings,
  );
}
