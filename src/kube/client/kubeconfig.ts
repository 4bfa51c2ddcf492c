// Kubeconfig files: read, merged as kubectl merges several, and turned into access to one cluster. Whatever is wrong is
// said with the file, the field's path and a way out, because this is the first thing that fails on a new machine.

import { dirname, isAbsolute, join } from 'node:path';
import { parseDocument } from 'yaml';
import { bearer, type ClusterAccess, type Credential, ReadAccess, readText, type Tls } from './access.ts';
import { ExecAccess, type ExecConfig } from './exec.ts';

interface Cluster {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
  'disable-compression'?: boolean;
  extensions?: { name: string; extension: unknown }[];
}

interface User {
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  exec?: ExecConfig;
  'auth-provider'?: unknown;
  as?: string;
  'as-uid'?: string;
  'as-groups'?: string[];
  'as-user-extra'?: Record<string, string[]>;
}

interface Context {
  cluster?: string;
  user?: string;
  namespace?: string;
}

/** One named entry, and where it stands: relative paths in it start at its file's folder. */
interface Entry<T> {
  name: string;
  value: T;
  at: string;
  folder: string;
}

interface Config {
  where: string;
  current: string;
  clusters: Entry<Cluster>[];
  users: Entry<User>[];
  contexts: Entry<Context>[];
}

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
  const config = isText(source) ? configIn(source, 'kubeconfig', '.') : configAt(source);
  const chosen = chosenContext(config, context);
  const cluster = named(config, 'clusters', chosen, chosen.value.cluster);
  const user = named(config, 'users', chosen, chosen.value.user);
  checkCluster(cluster);
  const access = accessTo(cluster, user, env);
  return chosen.value.namespace ? Object.assign(access, { namespace: chosen.value.namespace }) : access;
}

const isText = (source: string): boolean => /\n|^\s*\{/.test(source);

/** Several files as one: the first to name something wins. A file of a list may be missing, a single one may not. */
function configAt(paths: string): Config {
  const files = paths.split(':').filter((path) => path !== '');
  if (files.length === 0) throw new Error('kubeconfig: no file is named');
  const found = files.flatMap((path) => {
    try {
      return [configIn(readText(path, 'kubeconfig'), `kubeconfig ${path}`, dirname(path))];
    } catch (error) {
      if (files.length > 1 && isMissing(error)) return [];
      throw error;
    }
  });
  if (found.length === 0) throw new Error(`kubeconfig: none of ${files.join(', ')} exists`);
  return {
    where: found.length === 1 ? (found[0]?.where ?? '') : `kubeconfig ${paths}`,
    current: found.find(({ current }) => current !== '')?.current ?? '',
    clusters: firstOfEach(found.flatMap(({ clusters }) => clusters)),
    users: firstOfEach(found.flatMap(({ users }) => users)),
    contexts: firstOfEach(found.flatMap(({ contexts }) => contexts)),
  };
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';

const firstOfEach = <T>(entries: Entry<T>[]): Entry<T>[] =>
  [...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values()].toReversed();

function configIn(text: string, where: string, folder: string): Config {
  const config = yamlIn(text, where);
  const entries = <T>(list: string, field: string): Entry<T>[] => {
    const value = config[list] ?? [];
    if (!Array.isArray(value)) throw new Error(`${where}: ${list} is not a list`);
    return value.map((item: unknown, index) => entryIn<T>(item, field, { at: `${where}: ${list}[${index}]`, folder }));
  };
  const current = config['current-context'];
  return {
    where,
    current: typeof current === 'string' ? current : '',
    clusters: entries<Cluster>('clusters', 'cluster'),
    users: entries<User>('users', 'user'),
    contexts: entries<Context>('contexts', 'context'),
  };
}

function yamlIn(text: string, where: string): Record<string, unknown> {
  const document = parseDocument(text);
  // the parser's words quote the line, and a line may hold a token: only its place is told
  const [wrong] = document.errors;
  const line = wrong?.linePos?.[0];
  if (wrong) throw new Error(`${where}: not YAML${line ? ` (line ${line.line}, column ${line.col})` : ''}`);
  const config: unknown = document.toJS();
  if (config === null || typeof config !== 'object' || Array.isArray(config))
    throw new Error(`${where}: empty or not a kubeconfig; kubectl config view shows what one looks like`);
  return config as Record<string, unknown>;
}

function entryIn<T>(item: unknown, field: string, { at, folder }: { at: string; folder: string }): Entry<T> {
  const { name, [field]: value } = (item ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') throw new Error(`${at}.name is missing`);
  if (value !== null && value !== undefined && typeof value !== 'object')
    throw new Error(`${at}.${field} is not an object`);
  return { name, value: (value ?? {}) as T, at, folder };
}

function chosenContext({ where, current, contexts }: Config, asked: string | undefined): Entry<Context> {
  const name = asked ?? current;
  const known = contexts.map((context) => context.name).join(', ');
  const choose = known === '' ? 'the file has no contexts' : `choose one of: ${known}`;
  if (name === '') throw new Error(`${where}: current-context is not set; ${choose}`);
  const found = contexts.find((context) => context.name === name);
  if (found) return found;
  throw new Error(
    `${where}: ${asked === undefined ? 'current-context' : 'context'} "${name}" is not in contexts; ${choose}`,
  );
}

function named<L extends 'clusters' | 'users'>(
  config: Config,
  list: L,
  by: Entry<Context>,
  name: string | undefined,
): Config[L][number] {
  const field = list === 'clusters' ? 'cluster' : 'user';
  if (!name && list === 'users') return { name: '', value: {}, at: by.at, folder: by.folder };
  if (!name) throw new Error(`${by.at}.context.${field} is missing`);
  const found = config[list].find((entry) => entry.name === name);
  if (found) return found;
  const known = config[list].map((entry) => entry.name).join(', ');
  throw new Error(`${by.at} "${by.name}" names ${field} "${name}", which is not in ${list}${known && ` (${known})`}`);
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
  const headers = impersonation(user.value);
  const read = (): Credential => {
    const own = ownHeaders(user);
    return { ...own, headers: [...own.headers, ...headers], tls: { ...serverTls(cluster), ...clientTls(user) } };
  };
  if (!exec || token || tokenFile || username) {
    const access = new ReadAccess(server, read);
    read(); // what cannot be read now is said now
    return access;
  }
  return new ExecAccess(server, {
    config: exec,
    origin: `${user.at}.user.exec`,
    folder: user.folder,
    env,
    cluster: clusterInfo(cluster),
    tls: { ...serverTls(cluster), ...clientTls(user) },
    headers,
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
  try {
    return bearer(found);
  } catch (cause) {
    throw new Error(`${user.at}.user.${field}: ${(cause as Error).message}`, { cause });
  }
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
  return { ...(ca && { ca }), ...(serverName && { serverName }), ...(insecure && { insecure }) };
}

function clientTls(user: Entry<User>): Tls {
  const cert = pem(user, 'user', 'client-certificate');
  const key = pem(user, 'user', 'client-key');
  if (cert && !key) throw new Error(`${user.at}.user has a client-certificate but no client-key`);
  if (key && !cert) throw new Error(`${user.at}.user has a client-key but no client-certificate`);
  return { ...(cert && { cert }), ...(key && { key }) };
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
