// A revision is what a person asked for, as far as it changes what runs. It is cut once, with the pods rendered by the
// operator of that day, and stored as an immutable ControllerRevision. Servers are built from the stored one, never from
// what today's operator would render, so that another operator restarts nothing.

import { isDeepStrictEqual } from 'node:util';
import { childName, mark, shortHash } from '../api/index.ts';
import type { Observed } from '../kube/define.ts';
import { ControllerRevision, type KubeObject, type ObjectMeta, type PodTemplate } from '../objects/index.ts';
import type { Sized } from './parent.ts';
import { filled, isEmpty } from './pod.ts';

/** What every revision has. */
export interface Stored {
  /** The hash of what was asked; also the name in status and labels. */
  name: string;
  number: number;
}

/** What every kind with servers stores of a revision. */
export interface Revision extends Stored {
  template: PodTemplate;
  port: number;
  /** Seconds in which a server may start. A later deadline for progress leaves the servers alone, so they keep this one. */
  startSeconds?: number;
}

/** The name of a revision, by what a person can see of it. An empty list or map asks for what a missing one does. */
export function revisionHash(visible: object, { annotations }: ObjectMeta): string {
  return shortHash([filled(visible), annotations?.[mark.refresh] ?? ''], 10);
}

/** All stored revisions, newest first. */
export const revisionsIn = <R extends Stored>(seen: Observed): R[] =>
  seen
    .all(ControllerRevision)
    .map(({ revision, data }) => ({ ...(data as R), number: revision }))
    .toSorted((a, b) => b.number - a.number || (a.name < b.name ? -1 : 1));

/** The number of a revision that is cut now. */
export const nextNumber = (seen: Observed): number => 1 + Math.max(0, ...revisionsIn(seen).map(({ number }) => number));

/** The object in which a revision is stored. */
export const revisionObject = ({ metadata }: KubeObject, { number, ...data }: Stored): ControllerRevision => ({
  apiVersion: ControllerRevision.apiVersion,
  kind: ControllerRevision.kind,
  metadata: { name: childName(metadata.name, data.name), labels: { [mark.revision]: data.name } },
  revision: number,
  data,
});

/** The stored objects of these revisions, in a stable order. */
export function objectsOf(revisions: readonly Stored[], seen: Observed): ControllerRevision[] {
  const names = new Set(revisions.map(({ name }) => name));
  return seen
    .all(ControllerRevision)
    .filter(({ metadata }) => names.has(metadata.labels?.[mark.revision] ?? ''))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Whether a parent would be rendered in another way today. A deadline that changed since has no part in that. */
export function isOutdated<P extends { spec: Sized }>(
  parent: P,
  stored: Revision,
  render: (then: P) => Revision,
): boolean {
  const { rollout } = parent.spec;
  const progressDeadlineSeconds = stored.startSeconds ?? rollout.progressDeadlineSeconds;
  const today = render({ ...parent, spec: { ...parent.spec, rollout: { ...rollout, progressDeadlineSeconds } } });
  return !sameRendered([today.template, today.port], [stored.template, stored.port]);
}

/** Whether two came out the same, but for what is empty: two documents of one revision may differ in that. */
export const sameRendered = (one: unknown, other: unknown): boolean => isDeepStrictEqual(full(one), full(other));

const full = (rendered: unknown): unknown =>
  JSON.parse(JSON.stringify(rendered, (_key, value: unknown) => (isEmpty(value) ? undefined : value)));
