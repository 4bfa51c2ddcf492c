// What is behind the name of an image. A tag is looked up once for each revision, which then holds the digest; until that
// is known nothing is cut, and what serves goes on. The registry is asked by the operator itself; where it wants to know
// who asks, by a short Job, because only pods see Secrets.

import { childName, mark, type MLModel, shortHash } from '../../api/index.ts';
import type { Facts, Observed } from '../../kube/define.ts';
import { type Cause, Deployment, Job, jobResult, type PodTemplate } from '../../objects/index.ts';
import { failureOf, inJob, lastWord, podsOf, witnessesOf } from './downloads.ts';
import type { MLModelFacts } from './facts.ts';
import type { Looked } from './registry.ts';
import { revisionName, storedRevision } from './revision.ts';
import { serverName } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { attemptOf, type Found, imageAsked, isImage } from './source.ts';

/** `looking`: it goes on by itself. `unread`: it does not. `inspecting`: a Job asks, or has asked. */
export type Look = { at: 'found'; found: Found } | Looking | Unread;

export type Looking = {
  at: 'looking';
  inspecting: boolean;
  cause: Cause | undefined;
  late: Cause | undefined;
  since: string | undefined;
};

export type Unread = { at: 'unread'; inspecting: boolean; cause: Cause };

type Image = Extract<Looked, { digest: string }>;

/** What is known of the image that is asked for; undefined for other sources, and for what a stored revision tells. */
export function lookOf(
  model: MLModel,
  seen: Observed,
  facts: Facts<MLModelFacts>,
  { imageVolumes }: Pick<MLModelSettings, 'imageVolumes'>,
): Look | undefined {
  if (!isOpen(model, seen)) return undefined;
  const served = servedImage(model, seen);
  if (served) return { at: 'found', found: served };
  const job = seen.get(Job, inspectName(model));
  const image = job ? inspected(job, seen, facts) : asked(model, facts);
  if ('at' in image) return image;
  // Nodes pull with imagePullSecrets alone: what only `credentials` open is downloaded.
  const pullable = !job || hasPullSecrets(model);
  const mounted = image.mountable && pullable ? areMounted(imageVolumes, facts) : false;
  if (mounted === 'unknown') return { ...untold, inspecting: job !== undefined, cause: unknownNodes(facts) };
  return { at: 'found', found: { digest: image.digest, bytes: image.bytes, mounted } };
}

/** Whether nobody knows yet what the name of an image means for this revision. */
export const isOpen = (model: MLModel, seen: Observed): boolean => isImage(model) && !storedRevision(model, seen);

/** Nothing is known, and nothing is wrong. */
export const untold: Looking = {
  at: 'looking',
  inspecting: false,
  cause: undefined,
  late: undefined,
  since: undefined,
};

/** Whether nodes mount images, as far as it is known; what cannot be found out for long is taken for a no. */
function areMounted(setting: MLModelSettings['imageVolumes'], facts: Facts<MLModelFacts>): boolean | 'unknown' {
  if (setting !== 'auto') return setting === 'on';
  const { imageVolumes: fact } = facts;
  if (fact.state === 'known') return fact.value;
  return fact.state === 'failed' && fact.lasting ? false : 'unknown';
}

function unknownNodes({ imageVolumes: fact }: Facts<MLModelFacts>): Cause | undefined {
  if (fact.state !== 'failed') return undefined;
  const message = `Whether nodes mount images cannot be found out: ${fact.why}`;
  return { reason: 'ImageVolumesUnknown', message, object: 'Nodes' };
}

/** What servers of this very revision run already, though somebody removed the revision itself: a tag is asked once. */
function servedImage(model: MLModel, seen: Observed): Found | undefined {
  const running = seen.get(Deployment, serverName(model));
  if (running?.metadata.annotations?.[mark.revision] !== revisionName(model)) return undefined;
  const { template } = running.spec;
  const digest = template.metadata?.annotations?.[mark.image]?.split('@')[1];
  return digest === undefined ? undefined : { digest, mounted: mountsImage(template) };
}

/** Whether pods get their weights as an image. */
export const mountsImage = ({ spec }: PodTemplate): boolean =>
  ((spec['volumes'] ?? []) as { name: string; image?: unknown }[]).some(
    ({ name, image }) => name === 'weights' && image !== undefined,
  );

/** The Job that looks at what is asked, by whoever may be asked to see it. */
export const inspectName = (model: MLModel): string =>
  childName(model.metadata.name, `inspect-${shortHash([revisionName(model), attemptOf(model)], 10)}`);

/** What the operator itself was answered. */
function asked(model: MLModel, { manifest }: Facts<MLModelFacts>): Image | Looking | Unread {
  if (manifest.state === 'failed') return unreachable(model, manifest);
  if (manifest.state !== 'known') return untold;
  if ('digest' in manifest.value) return manifest.value;
  const { refused: reason, message } = manifest.value;
  if (mayInspect(model, reason)) return { ...untold, inspecting: true };
  const advice = reason === 'SourceUnauthorized' ? '; name a Secret for its registry in imagePullSecrets' : '';
  return { at: 'unread', inspecting: false, cause: { reason, message: `${message}${advice}`, object: imageOf(model) } };
}

/** A pod may know more than the operator: who we are, and whom to trust. */
const mayInspect = (model: MLModel, reason: string): boolean =>
  (reason === 'SourceUnauthorized' && (hasPullSecrets(model) || model.spec.credentials !== undefined)) ||
  (reason === 'SourceTLSError' && model.spec.credentials !== undefined);

const hasPullSecrets = ({ spec }: MLModel): boolean => (spec.imagePullSecrets ?? []).length > 0;

const imageOf = (model: MLModel): string => `Image ${imageAsked(model)}`;

function unreachable(model: MLModel, { why, lasting }: { why: string; lasting?: true }): Looking | Unread {
  const object = imageOf(model);
  const cause = { reason: 'ImageUnreadable', message: `${object} cannot be looked at: ${why}`, object };
  return lasting ? { at: 'unread', inspecting: false, cause } : { ...untold, cause };
}

/** What the Job was answered, in the last word of its pod. */
function inspected(job: Job, seen: Observed, facts: Facts<MLModelFacts>): Image | Looking | Unread {
  const pods = podsOf(job, seen);
  if (jobResult(job) === 'failed') return { at: 'unread', inspecting: true, cause: failureOf(job, pods) };
  const word = jobResult(job) === 'complete' ? lastWord(witnessesOf(pods, facts) ?? []) : undefined;
  if (word?.result === 'done' && word.mountable !== undefined)
    return { digest: word.digest, bytes: word.bytes, mountable: word.mountable };
  const standing = inJob(job, undefined, seen, facts);
  if (standing.at === 'loading') return { ...standing, at: 'looking', inspecting: true };
  return standing.at === 'failed' ? { ...standing, at: 'unread', inspecting: true } : untold;
}
