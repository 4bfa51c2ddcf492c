// A kubeconfig as access to one cluster. Whatever is wrong is said with the file, the field's path and a way out, because
// this is the first thing that fails on a new machine.

import { isAbsolute, join } from 'node:path';
import {
  authority,
  bearer,
  type ClusterAccess,
  type Credential,
  pair,
  ReadAccess,
  readText,
  type Tls,
} from './access.ts';
import { chosenContext, type Cluster, type Entry, named, readConfig, type User } from './config.ts';
import { ExecAccess } from './exec.ts';

export interface KubeconfigOptions {
  /** Instead of the file's current-context. */
  context?: string;
  /** The environment in which an exec plugin runs. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** What a kubeconfig leads to: a cluster, and the namespace that its context names. */
export interface KubeconfigAccess extends ClusterAccess {
  readonly namespace?: string;
}

/** Access by a kubeconfig, given as its text or as a path; several paths are joined by colons, as in KUBECONFIG. */
export function loadKubeconfig(source: string, { context, env = {} }: KubeconfigOptions = {}): KubeconfigAccess {
  const config = readConfig(source);
  const chosen = chosenContext(config, context);
  const cluster = named(config, 'clusters', chosen, chosen.value.cluster);
  const user = named(config, 'users', chosen, chosen.value.user);
  checkCluster(cluster);
  const access = accessTo(cluster, user, env);
  return chosen.value.namespace ? Object.assign(access, { namespace: chosen.value.namespace }) : access;
}

function checkCluster({ value, at }: Entry<Cluster>): void {
  const { server, 'proxy-url': proxy } = value;
  if (!server) throw new Error(`${at}.cluster.server is missing`);
  if (!URL.canParse(server) || !/^https?:/.test(server))
    throw new Error(`${at}.cluster.server "${server}" is not an http or https URL`);
  if (proxy) throw new Error(`${at}.cluster.proxy-url is not supported; remove it and reach the server directly`);
  if (value['insecure-skip-tls-verify'] && (value['certificate-authority'] || value['certificate-authority-data']))
    throw new Error(`${at}.cluster has both a certificate authority and insecure-skip-tls-verify; remove one`);
}

function accessTo(
  cluster: Entry<Cluster>,
  user: Entry<User>,
  env: Readonly<Record<string, string | undefined>>,
): ClusterAccess {
  const server = cluster.value.server ?? '';
  const { exec, token, tokenFile, username, 'auth-provider': provider } = user.value;
  if (provider)
    throw new Error(`${user.at}.user.auth-provider is no longer part of Kubernetes; use an exec plugin instead`);
  const read = (): Credential => {
    const own = ownHeaders(user);
    const tls = { ...serverTls(cluster), ...clientTls(user) };
    return { ...own, headers: [...own.headers, ...impersonation(user.value)], tls };
  };
  read(); // what cannot be read now is said now
  if (!exec || token || tokenFile || username) return new ReadAccess(server, read);
  const origin = `${user.at}.user.exec`;
  return new ExecAccess(server, {
    config: exec,
    origin,
    folder: user.folder,
    env,
    cluster: clusterInfo(cluster),
    read,
  });
}

function ownHeaders(user: Entry<User>): { headers: string[]; secret?: string } {
  const { tokenFile, token, username, password } = user.value;
  const field = tokenFile ? 'tokenFile' : 'token';
  const found = tokenFile ? readText(resolved(user, tokenFile), `${user.at}.user.tokenFile`).trim() : token;
  if (!found && !username) return { headers: [] };
  if (!found) {
    const secret = Buffer.from(`${username}:${password ?? ''}`).toString('base64');
    return { headers: ['authorization', `Basic ${secret}`], secret };
  }
  return bearer(found, `${user.at}.user.${field}`);
}

/** Acting as somebody else; left out it would act with more rights than asked for. */
function impersonation(user: User): string[] {
  const extra = Object.entries(user['as-user-extra'] ?? {});
  return [
    ...(user.as ? ['impersonate-user', user.as] : []),
    ...(user['as-uid'] ? ['impersonate-uid', user['as-uid']] : []),
    ...(user['as-groups'] ?? []).flatMap((group) => ['impersonate-group', group]),
    ...extra.flatMap(([key, values]) =>
      values.flatMap((value) => [`impersonate-extra-${encodeURIComponent(key)}`, value]),
    ),
  ];
}

function serverTls(cluster: Entry<Cluster>): Tls {
  const { 'tls-server-name': serverName, 'insecure-skip-tls-verify': insecure } = cluster.value;
  const ca = pem(cluster, 'cluster', 'certificate-authority');
  const checked = ca && authority(ca, `${cluster.at}.cluster.certificate-authority`);
  return { ...(checked && { ca: checked }), ...(serverName && { serverName }), ...(insecure && { insecure }) };
}

function clientTls(user: Entry<User>): Tls {
  const cert = pem(user, 'user', 'client-certificate');
  const key = pem(user, 'user', 'client-key');
  if (cert && !key) throw new Error(`${user.at}.user has a client-certificate but no client-key`);
  if (key && !cert) throw new Error(`${user.at}.user has a client-key but no client-certificate`);
  return cert && key ? pair(cert, key, `${user.at}.user`) : {};
}

/** PEM text from `<field>-data`, which goes first, or from the file that `<field>` names. */
function pem(entry: Entry<Cluster | User>, part: string, field: string): string | undefined {
  const value = entry.value as Record<string, unknown>;
  const data = value[`${field}-data`];
  const path = value[field];
  if (typeof data === 'string' && data !== '') {
    const text = Buffer.from(data, 'base64').toString();
    if (text.includes('-----BEGIN ')) return text;
    throw new Error(`${entry.at}.${part}.${field}-data is not base64 of PEM text`);
  }
  if (typeof path !== 'string' || path === '') return undefined;
  const text = readText(resolved(entry, path), `${entry.at}.${part}.${field}`);
  if (text.includes('-----BEGIN ')) return text;
  throw new Error(`${entry.at}.${part}.${field}: ${path} holds no PEM text`);
}

const resolved = ({ folder }: Entry<unknown>, path: string): string => (isAbsolute(path) ? path : join(folder, path));

function clusterInfo(cluster: Entry<Cluster>): Record<string, unknown> {
  const { value } = cluster;
  const ca = pem(cluster, 'cluster', 'certificate-authority');
  const config = value.extensions?.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension;
  return {
    server: value.server,
    'tls-server-name': value['tls-server-name'],
    'insecure-skip-tls-verify': value['insecure-skip-tls-verify'],
    'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
    'disable-compression': value['disable-compression'],
    config,
  };
}
