// What is behind the image that holds the weights of a model, and whether nodes will mount it. Until that is known no
// revision is cut, and what serves goes on.

import { childName, mark, type MLModel, shortHash } from '../../api/index.ts';
import type { Facts, Observed } from '../../kube/define.ts';
import { type Cause, Deployment, Job, type PodTemplate } from '../../objects/index.ts';
import {
  type Image,
  imageBehind,
  type Looking,
  type Question,
  toldTo,
  type Unread,
  untold,
} from '../../serving/index.ts';
import type { MLModelFacts } from './facts.ts';
import { revisionName, storedRevision } from './revision.ts';
import { serverName } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { attemptOf, type Found, imageAsked, isImage } from './source.ts';

export type Look = { at: 'found'; found: Found } | Looking | Unread;

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
  const question = questionOf(model);
  const image = imageBehind(question, seen, facts);
  if ('at' in image) return image;
  const inspecting = seen.get(Job, question.job) !== undefined;
  // Nodes pull with imagePullSecrets alone: what only `credentials` open is downloaded.
  const pullable = !inspecting || question.hasPullSecrets;
  const mounted = image.mountable && pullable ? areMounted(imageVolumes, facts) : false;
  if (mounted === 'unknown') return { ...untold, inspecting, cause: unknownNodes(facts) };
  return { at: 'found', found: { digest: image.digest, bytes: image.bytes, mounted } };
}

/** Whether nobody knows yet what the name of an image means for this revision. */
export const isOpen = (model: MLModel, seen: Observed): boolean => isImage(model) && !storedRevision(model, seen);

const questionOf = (model: MLModel): Question<Image> => ({
  image: imageAsked(model),
  job: inspectName(model),
  hasPullSecrets: (model.spec.imagePullSecrets ?? []).length > 0,
  hasCredentials: model.spec.credentials !== undefined,
  heard: ({ digest, bytes, mountable }) => (mountable === undefined ? undefined : { digest, bytes, mountable }),
});

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
  if (!running || toldTo(running) !== revisionName(model)) return undefined;
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
