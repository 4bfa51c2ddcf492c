// A revision of a model: source, server, pod fields. It is cut once, when its source is known; how it is stored and read
// back is the same for every kind with servers.

import type { MLModel } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import type { PodTemplate } from '../../objects/index.ts';
import {
  isOutdated as isOutdatedBy,
  nextNumber,
  revisionHash,
  type Revision as Stored,
  revisionObject,
  revisionsIn as storedIn,
} from '../../serving/index.ts';
import { portOf, renderTemplate } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { type Source, sourceOf } from './source.ts';

export interface Revision extends Stored {
  source: Source;
}

/** What a person can see of a change: everything that ends up in the pods. Sizes, counts and exposure do not. */
export function revisionName({ spec, metadata }: MLModel): string {
  const { storageSize: _size, replicas: _replicas, expose: _expose, credentials: _credentials, ...rest } = spec;
  const { storageClassName: _class, retain: _retain, rollout: _rollout, ...visible } = rest;
  return revisionHash(visible, metadata);
}

/** The revision that is asked for, if it is stored. */
export const storedRevision = (model: MLModel, seen: Observed): Revision | undefined => {
  const name = revisionName(model);
  return revisionsIn(seen).find((one) => one.name === name);
};

/** The revision that is asked for: the stored one, or one cut now. */
export const askedRevision = (model: MLModel, seen: Observed, settings: MLModelSettings, source?: Source): Revision =>
  storedRevision(model, seen) ?? cut(model, settings, nextNumber(seen), source);

/** Where the weights that are asked for come from, as the stored revision says. */
export const askedSource = (model: MLModel, seen: Observed): Source =>
  storedRevision(model, seen)?.source ?? sourceOf(model);

/** A revision as this operator would render it today. Of a source that is not known there is nothing that could run. */
export function cut(model: MLModel, settings: MLModelSettings, number: number, source = sourceOf(model)): Revision {
  const name = revisionName(model);
  const { progressDeadlineSeconds: startSeconds } = model.spec.rollout;
  if (source.from === 'registry')
    return { name, number, source, startSeconds, template: nothing, port: portOf(model, settings) };
  return { name, number, source, startSeconds, ...renderTemplate(model, name, source, settings) };
}

/** Whether this operator would render a stored revision in another way. */
export const isOutdated = (model: MLModel, stored: Revision, settings: MLModelSettings): boolean =>
  isOutdatedBy(model, stored, (then) => cut(then, settings, stored.number, stored.source));

const nothing: PodTemplate = { spec: { containers: [] } };

/** All stored revisions, newest first. */
export const revisionsIn = (seen: Observed): Revision[] => storedIn<Revision>(seen);

export { revisionObject };
