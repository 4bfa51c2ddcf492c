// A revision is what a person asked for, as far as it changes what runs: source, server, pod fields. It is cut once, with
// the pods rendered by the operator of that day, and stored as an immutable ControllerRevision. Servers are built from
// the stored one, never from the operator's own table, so that another operator restarts nothing.

import { isDeepStrictEqual } from 'node:util';
import { childName, mark, type MLModel, shortHash } from '../../api/index.ts';
import type { Observed } from '../../kube/define.ts';
import { ControllerRevision, type PodTemplate } from '../../objects/index.ts';
import { portOf, renderTemplate } from './server.ts';
import type { MLModelSettings } from './settings.ts';
import { isEmpty, type Source, sourceOf } from './source.ts';

export interface Revision {
  /** The hash of what was asked; also the name in status and labels. */
  name: string;
  number: number;
  source: Source;
  template: PodTemplate;
  port: number;
  /** Seconds in which a server may start. A later deadline for progress leaves the servers alone, so they keep this one. */
  startSeconds?: number;
}

/**
 * What a person can see of a change: everything that ends up in the pods. Sizes, counts and exposure do not, and an empty
 * list or map asks for what a missing one does.
 */
export function revisionName({ spec, metadata }: MLModel): string {
  const { storageSize: _size, replicas: _replicas, expose: _expose, credentials: _credentials, ...rest } = spec;
  const { storageClassName: _class, retain: _retain, rollout: _rollout, ...visible } = rest;
  const said = Object.fromEntries(Object.entries(visible).filter(([, value]) => !isEmpty(value)));
  return shortHash([said, metadata.annotations?.[mark.refresh] ?? ''], 10);
}

/** The revision that is asked for, if it is stored. */
export const storedRevision = (model: MLModel, seen: Observed): Revision | undefined => {
  const name = revisionName(model);
  return revisionsIn(seen).find((one) => one.name === name);
};

/** The revision that is asked for: the stored one, or one cut now. */
export const askedRevision = (model: MLModel, seen: Observed, settings: MLModelSettings, source?: Source): Revision =>
  storedRevision(model, seen) ??
  cut(model, settings, 1 + Math.max(0, ...revisionsIn(seen).map(({ number }) => number)), source);

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

/** Whether this operator would render a stored revision in another way. A deadline that changed since has no part in that. */
export function isOutdated(model: MLModel, stored: Revision, settings: MLModelSettings): boolean {
  const { rollout } = model.spec;
  const progressDeadlineSeconds = stored.startSeconds ?? rollout.progressDeadlineSeconds;
  const then = { ...model, spec: { ...model.spec, rollout: { ...rollout, progressDeadlineSeconds } } };
  const today = cut(then, settings, stored.number, stored.source);
  return !isDeepStrictEqual([today.template, today.port], [stored.template, stored.port]);
}

const nothing: PodTemplate = { spec: { containers: [] } };

/** All stored revisions, newest first. */
export const revisionsIn = (seen: Observed): Revision[] =>
  seen
    .all(ControllerRevision)
    .map(stored)
    .toSorted((a, b) => b.number - a.number || (a.name < b.name ? -1 : 1));

/** The object in which a revision is stored. */
export const revisionObject = (model: MLModel, { number, ...data }: Revision): ControllerRevision => ({
  apiVersion: ControllerRevision.apiVersion,
  kind: ControllerRevision.kind,
  metadata: { name: childName(model.metadata.name, data.name), labels: { [mark.revision]: data.name } },
  revision: number,
  data,
});

const stored = ({ revision, data }: ControllerRevision): Revision => ({
  ...(data as Omit<Revision, 'number'>),
  number: revision,
});
