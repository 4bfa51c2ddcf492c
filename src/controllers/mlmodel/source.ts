// Where weights come from, and what names them: two models, or two revisions of one, with the same source share nothing
// but the hash of it, so a change of source never touches what is already there.

import { childName, mark, type MLModel, shortHash } from '../../api/index.ts';

/** Weights that are fetched onto a volume of their own, or that are on somebody's volume already. */
export type Source =
  | { from: 'download'; weights: string; claim: string }
  | { from: 'claim'; claim: string; path: string };

/** How a framework wants its weights laid out, where they cannot be as they came: others can share theirs. */
const layouts: Partial<Record<MLModel['spec']['framework'], string>> = { tensorflow: 'a folder for each version' };

/** The source of a model. */
export function sourceOf(model: MLModel): Source {
  const { modelURL, digest, accessMode, framework } = model.spec;
  const own = /^pvc:\/\/([^/]+)\/?(.*)$/.exec(modelURL);
  if (own) return { from: 'claim', claim: own[1] ?? '', path: (own[2] ?? '').replace(/\/$/, '') };
  const layout = layouts[framework];
  const weights = shortHash([modelURL, digest ?? '', accessMode, ...(layout === undefined ? [] : [layout])], 10);
  return { from: 'download', weights, claim: childName(model.metadata.name, `weights-${weights}`) };
}

/** Fields of a download's pod that may keep it from starting. */
const podParts = [
  'nodeSelector',
  'tolerations',
  'priorityClassName',
  'runtimeClassName',
  'imagePullSecrets',
  'podLabels',
  'podAnnotations',
] as const;

/** What a download was started for, and by which pod: a person who mends one of these wants it tried again. */
export function attemptOf({ spec, metadata }: MLModel): string {
  const { storageSize, credentials, storageClassName } = spec;
  const pod = podParts.map((part) => spec[part]);
  return shortHash([metadata.annotations?.[mark.retry], storageSize, credentials, storageClassName, pod], 6);
}
