// Where weights come from, and what names them: two models, or two revisions of one, with the same source share nothing
// but the hash of it, so a change of source never touches what is already there.

import { childName, mark, type MLModel, shortHash } from '../../api/index.ts';

/** Weights that are fetched onto a volume of their own, or that are on somebody's volume already. */
export type Source =
  | { from: 'download'; weights: string; claim: string }
  | { from: 'claim'; claim: string; path: string };

/** The source of a model. */
export function sourceOf(model: MLModel): Source {
  const { modelURL, digest, accessMode } = model.spec;
  const own = /^pvc:\/\/([^/]+)\/?(.*)$/.exec(modelURL);
  if (own) return { from: 'claim', claim: own[1] ?? '', path: (own[2] ?? '').replace(/\/$/, '') };
  const weights = shortHash([modelURL, digest ?? '', accessMode], 10);
  return { from: 'download', weights, claim: childName(model.metadata.name, `weights-${weights}`) };
}

/** What a download was started for, and by which pod: a person who mends one of these wants it tried again. */
export function attemptOf({ spec, metadata }: MLModel): string {
  const { storageSize, credentials, storageClassName } = spec;
  const {
    nodeSelector,
    tolerations,
    priorityClassName,
    runtimeClassName,
    imagePullSecrets,
    podLabels,
    podAnnotations,
  } = spec;
  const pod = [
    nodeSelector,
    tolerations,
    priorityClassName,
    runtimeClassName,
    imagePullSecrets,
    podLabels,
    podAnnotations,
  ];
  return shortHash([metadata.annotations?.[mark.retry], storageSize, credentials, storageClassName, pod], 6);
}
