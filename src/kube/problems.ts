// What is wrong right now, by name, in words that say what to do. A problem is logged when it appears, when its words
// change and when it is solved; in between it shows in the probes and in a metric.

import type { Log } from '../base/index.ts';
import type { Kind } from '../objects/index.ts';
import { groupOf } from '../objects/index.ts';
import { ApiError } from './client/index.ts';

export class Problems {
  private readonly current = new Map<string, string>();
  private readonly log: Log;

  constructor(log: Log) {
    this.log = log;
  }

  /** Sets a problem, or with undefined marks it as solved. */
  set(name: string, words: string | undefined): void {
    const before = this.current.get(name);
    if (before === words) return;
    if (words === undefined) {
      this.current.delete(name);
      return this.log.info('a problem is solved', { problem: name });
    }
    this.current.set(name, words);
    this.log.error('a problem needs attention', { problem: name, what: words });
  }

  list(): { name: string; words: string }[] {
    return [...this.current].map(([name, words]) => ({ name, words }));
  }
}

export interface WatchProblem {
  words: string;
  /** It concerns every watch. */
  shared: boolean;
  /** The kind is not served at all. */
  absent?: boolean;
}

/** What keeps a watch from working, if it is more than a passing fault. */
export function watchProblem(error: unknown, kind: Kind): WatchProblem | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const resource = [kind.plural, groupOf(kind)].filter((part) => part !== '').join('.');
  switch (error.status) {
    case 0:
      return {
        words: `${error.message}; check the server's address and the network. It is tried again all the time`,
        shared: true,
      };
    case 401:
      return {
        words: `the API server does not accept the credentials: ${error.message}; check the token or the certificate`,
        shared: true,
      };
    case 403:
      return {
        words: `may not list and watch ${resource}: apply the generated roles (deploy/rbac) and bind them to the operator's account`,
        shared: false,
      };
    case 404:
      return {
        words: `${resource} is not served by the API server: install its CRD (deploy/crds); it will be noticed`,
        shared: false,
        absent: true,
      };
    default:
      return undefined;
  }
}
