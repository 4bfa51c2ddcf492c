// Where weights come from, and what names them: two models, or two revisions of one, with the same source share nothing
// but the hash of it, so a change of source never touches what is already there.

import { arrangementOf, childName, mark, type MLModel, shortHash } from '../../api/index.ts';

/**
 * Weights that are fetched onto a volume of their own; that are on somebody's volume already; that nodes pull and mount
 * as an image; or that are in a registry which nobody has asked yet, so that it is not known how they will come.
 */
export type Source =
  | { from: 'download'; weights: string; claim: string; image?: Copied }
  | { from: 'claim'; claim: string; path: string }
  | { from: 'image'; image: string; claim?: never }
  | { from: 'registry'; claim?: never };

/** A source of which it is known how it reaches the servers. */
export type Located = Exclude<Source, { from: 'registry' }>;

/** An image that is downloaded: its name by digest, and the bytes that a copy takes, if they are known. */
interface Copied {
  name: string;
  bytes?: number;
}

/** What was found behind the name of an image, and whether nodes are to mount it. */
export interface Found {
  digest: string;
  bytes?: number;
  mounted: boolean;
}

/** The source of a model. An image is one only when it was found. */
export function sourceOf(model: MLModel, found?: Found): Source {
  const { modelURL, digest } = model.spec;
  const own = /^pvc:\/\/([^/]+)\/?(.*)$/.exec(modelURL);
  if (own) return { from: 'claim', claim: own[1] ?? '', path: (own[2] ?? '').replace(/\/$/, '') };
  if (!isImage(model)) return downloadOf(model, digest ?? '');
  if (!found) return { from: 'registry' };
  const name = pinned(modelURL, found.digest);
  if (found.mounted) return { from: 'image', image: name };
  const image = { name, ...(found.bytes !== undefined && { bytes: found.bytes }) };
  return { ...downloadOf(model, found.digest), image };
}

function downloadOf({ spec, metadata }: MLModel, digest: string): Extract<Source, { from: 'download' }> {
  const { modelURL, accessMode, framework } = spec;
  const weights = shortHash([modelURL, digest, accessMode, arrangementOf(framework)], 10);
  return { from: 'download', weights, claim: childName(metadata.name, `weights-${weights}`) };
}

const scheme = 'oci://';

/** Whether the weights are in a registry. */
export const isImage = ({ spec }: MLModel): boolean => spec.modelURL.startsWith(scheme);

/** The image that is asked for, as it is written; by its digest if that is asked, too. */
export const imageAsked = ({ spec: { modelURL, digest } }: MLModel): string =>
  digest === undefined ? modelURL.slice(scheme.length) : pinned(modelURL, digest);

/** The name of an image by its digest alone: a tag could be another one tomorrow. */
const pinned = (url: string, digest: string): string =>
  `${url
    .slice(scheme.length)
    .replace(/@.*$/, '')
    .replace(/:[^/:]*$/, '')}@${digest}`;

/** The image of a source by its digest, if it is one. */
export function imageOf(source: Source): string | undefined {
  if (source.from === 'image') return source.image;
  return source.from === 'download' ? source.image?.name : undefined;
}

/** What a download is told to fetch. */
export function urlOf({ spec }: MLModel, source: Source): string {
  const image = imageOf(source);
  return image === undefined ? spec.modelURL : `${scheme}${image}`;
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
  const pod = podParts.map((part) => (isEmpty(spec[part]) ? undefined : spec[part]));
  return shortHash([metadata.annotations?.[mark.retry], storageSize, credentials, storageClassName, pod], 6);
}

/** An empty list or map, which asks for what a missing one does. */
export const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
