// Pods of a parent, told apart by their labels: servers from programs that run to their end, one revision from another.

import { mark } from '../api/index.ts';
import type { Observed } from '../kube/define.ts';
import { Pod } from '../objects/index.ts';

/** Pods that have not come to their end. Those that have may stand around for long, and use nothing. */
export const podsIn = (seen: Observed): Pod[] =>
  seen.labelled(Pod).filter(({ status }) => status?.phase !== 'Failed' && status?.phase !== 'Succeeded');

/** The servers, of whatever revision. */
export const serversIn = (seen: Observed): Pod[] =>
  seen.labelled(Pod).filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'server');

/** The servers of one revision. */
export const serversOf = (revision: string | undefined, seen: Observed): Pod[] =>
  serversIn(seen).filter((pod) => revision !== undefined && revisionIn(pod) === revision);

export const revisionIn = ({ metadata }: Pod): string | undefined => metadata.labels?.[mark.revision];
