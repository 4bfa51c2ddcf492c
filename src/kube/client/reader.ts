// The reads that facts may do, over the client: a missing object is an answer, not an error, and lists come whole.

import { type Kind, type KubeObject, manager } from '../../objects/index.ts';
import type { Reader } from '../define.ts';
import type { Client } from './client.ts';
import { ApiError } from './errors.ts';

const pageSize = '500';

/** Reads beside the cache, through this client. */
export function readerOf(client: Client): Reader {
  return {
    get: (kind, namespace, name) => client.get(kind, { namespace, name }).catch(missing),
    list: (kind, namespace, query = {}) => allPages(client, kind, namespace, query),
    async podLog(namespace, pod, query = {}) {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
      return (await client.raw('GET', path, { query, accept: '*/*' })).text;
    },
    dryRun: (kind, object) => client.create(kind, object, { manager: manager.children, dryRun: true }).catch(refused),
  };
}

/** Not valid, forbidden by a policy, or judged by somebody who cannot judge without consequences. */
function refused(error: unknown): undefined {
  if (error instanceof ApiError && [400, 403, 422].includes(error.status)) return undefined;
  throw error;
}

function missing(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}

async function allPages<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  namespace: string,
  query: Record<string, string>,
): Promise<T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(kind, namespace, { limit: pageSize, ...query, ...(next && { continue: next }) });
    items.push(...page.items);
    next = page.continue;
  } while (next !== undefined);
  return items;
}
