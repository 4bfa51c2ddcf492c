// A revision of a ModelDeployment: the image by its digest, and the pods that run it. It is cut when the digest is known;
// until then there is only its name.

import type { ModelDeployment } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import type { PodTemplate } from '../../objects/index.ts';
import { nextNumber, revisionHash, type Revision as Stored, revisionsIn } from '../../serving/index.ts';
import { podsFor } from './server.ts';

export interface Revision extends Stored {
  /** By its digest; undefined while that is not known. */
  image: string | undefined;
}

/** What a person can see of a change: everything that ends up in the pods. Counts and ways to change them do not. */
export function revisionName({ spec, metadata }: ModelDeployment): string {
  const { replicas: _replicas, minReplicas: _least, maxReplicas: _most, target: _target, ...rest } = spec;
  const { rollout: _rollout, ...visible } = rest;
  return revisionHash(visible, metadata);
}

/** The revision that is asked for, if it is stored. */
export const storedRevision = (object: ModelDeployment, seen: Observed): Revision | undefined => {
  const name = revisionName(object);
  return revisionsIn<Revision>(seen).find((one) => one.name === name);
};

/** The revision that is asked for: the stored one, or one cut now for an image. */
export const askedRevision = (object: ModelDeployment, seen: Observed, image: string | undefined): Revision =>
  storedRevision(object, seen) ?? cut(object, nextNumber(seen), image);

/** A revision as this operator would render it today. Without an image there is nothing that could run. */
export function cut(object: ModelDeployment, number: number, image: string | undefined): Revision {
  const name = revisionName(object);
  const { rollout, port } = object.spec;
  const template: PodTemplate = image === undefined ? { spec: { containers: [] } } : podsFor(object, name, image);
  return { name, number, image, template, port, startSeconds: rollout.progressDeadlineSeconds };
}
