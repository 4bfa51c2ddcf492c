// Where the operator works and where its lease is, from its settings and from where the process runs. Outside a pod a
// cluster must be named: a process that somebody starts on their own machine never takes whatever kubectl used last.

import { isIP } from 'node:net';
import { join } from 'node:path';
import { wordsOf } from '../base/index.ts';
import { type ClusterAccess, inCluster, loadKubeconfig } from '../kube/index.ts';
import type { Settings } from './settings.ts';

/** What the process finds around itself. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  /** The home directory, where kubectl keeps its configuration. */
  home: string;
  /** Reads a file, or throws. */
  read: (path: string) => string;
}

const account = '/var/run/secrets/kubernetes.io/serviceaccount';
const unnamed = 'no cluster is named: give --context=NAME or --kubeconfig=PATH (in a pod neither is needed)';

/**
 * How to reach the cluster, asked again until it can be read; or why no cluster is meant. A context is named by a person
 * who waits for an answer, so one that cannot be found is told at once.
 */
export function accessFrom(
  { kubeconfig, context }: Pick<Settings, 'kubeconfig' | 'context'>,
  { env, home }: Surroundings,
): { access: () => ClusterAccess } | { wrong: string } {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (kubeconfig === undefined && context === undefined)
    return host === undefined ? { wrong: unnamed } : { access: () => inCluster({ host, port }) };
  const paths = kubeconfig ?? (env['KUBECONFIG'] || join(home, '.kube', 'config'));
  if (context === undefined) return { access: () => loadKubeconfig(paths, { env }) };
  const access = () => loadKubeconfig(paths, { env, context });
  try {
    access();
    return { access };
  } catch (error) {
    return { wrong: wordsOf(error) };
  }
}

/** The address of the API server, which no source may be at; nothing while it cannot be read, or has a name only. */
export function apiServerFrom(access: () => ClusterAccess): string[] {
  try {
    const { hostname, port, protocol } = new URL(access().server);
    const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) > 0;
    return isAddress ? [`${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`] : [];
  } catch {
    return [];
  }
}

/** Where the lease is, if there is an election. With Roles only the operator has rights in no other namespace than its own. */
export function leaseFrom(
  { leaderElection, leaseNamespace, leaseName: name, namespaces }: Settings,
  { read }: Pick<Surroundings, 'read'>,
): { namespace: string; name: string } | undefined {
  if (!leaderElection) return undefined;
  return { namespace: leaseNamespace ?? namespaces[0] ?? ownNamespace(read) ?? 'baton-system', name };
}

function ownNamespace(read: Surroundings['read']): string | undefined {
  try {
    return read(join(account, 'namespace')).trim() || undefined;
  } catch {
    return undefined;
  }
}
