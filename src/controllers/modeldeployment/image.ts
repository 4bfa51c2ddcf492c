// What is behind the name of the image. A tag is looked up once for each revision, by the operator itself or by a Job with
// the pull secrets; a name with a digest needs no look.

import { childName, mark, ModelDeployment, partLabels, shortHash } from '../../api/index.ts';
import type { Facts, Observed } from '../../kube/define.ts';
import { Deployment, type Job } from '../../objects/index.ts';
import {
  imageBehind,
  imageJob,
  type Looking,
  type LookFacts,
  pinned,
  type ProgramSettings,
  type Resolved,
  startingFields,
  toldTo,
  type Unread,
} from '../../serving/index.ts';
import { revisionName, storedRevision } from './revision.ts';
import { modelName } from './server.ts';

/** The image by its digest, or how far the look at it is. */
export type Look = { at: 'found'; image: string } | Looking | Unread;

/** What is known of the image that is asked for. */
export function lookOf(object: ModelDeployment, seen: Observed, facts: Facts<LookFacts<Resolved>>): Look {
  const known = knownImage(object, seen);
  if (known !== undefined) return { at: 'found', image: known };
  const question = {
    image: imageAsked(object),
    job: resolveName(object),
    hasPullSecrets: (object.spec.imagePullSecrets ?? []).length > 0,
    hasCredentials: false,
    wayOut: '; where only nodes can reach it, name it by its digest, for which nobody is asked',
    heard: ({ digest }: { digest: string }) => ({ digest }),
  };
  const looked = imageBehind(question, seen, facts);
  return 'at' in looked ? looked : { at: 'found', image: pinned(question.image, looked.digest) };
}

/** The image as the stored revision, its own name, or servers of this very revision tell: then nobody is asked. */
export function knownImage(object: ModelDeployment, seen: Observed): string | undefined {
  const stored = storedRevision(object, seen)?.image;
  if (stored !== undefined) return stored;
  const [, digest] = object.spec.image.split('@');
  if (digest !== undefined) return pinned(imageAsked(object), digest);
  const running = seen.get(Deployment, modelName(object));
  const image = running?.spec.template.spec.containers[0]?.image ?? '';
  return toldTo(running) === revisionName(object) && image.includes('@') ? image : undefined;
}

/** The image with its registry: without one, nodes take it from docker.io, and so must whoever looks. */
export function imageAsked({ spec: { image } }: ModelDeployment): string {
  const [host = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(host) || host === 'localhost');
  return isHost ? image : `docker.io/${image}`;
}

/** By which pod an image was looked at: a person who mends one of these wants it tried again. */
export const attemptOf = ({ spec, metadata }: ModelDeployment): string =>
  shortHash([metadata.annotations?.[mark.retry], startingFields(spec)], 6);

/** The Job that looks at what is asked. */
export const resolveName = (object: ModelDeployment): string =>
  childName(object.metadata.name, `resolve-${shortHash([revisionName(object), attemptOf(object)], 10)}`);

export const resolveJob = (object: ModelDeployment, settings: ProgramSettings): Job =>
  imageJob(
    object.spec,
    {
      name: resolveName(object),
      labels: partLabels(ModelDeployment.kind, object.metadata.name, 'inspect'),
      attempt: attemptOf(object),
      image: imageAsked(object),
      only: 'digest',
    },
    settings,
  );
