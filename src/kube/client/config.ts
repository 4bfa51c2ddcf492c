// The files of a kubeconfig: what they name, merged as kubectl merges several. Every entry remembers where it stands, so
// that whatever turns out to be wrong with it can be said with file and path.

import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import { readText } from './access.ts';
import type { ExecConfig } from './exec.ts';

/** The `cluster` of an entry. */
export interface Cluster {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
  'disable-compression'?: boolean;
  extensions?: { name: string; extension: unknown }[];
}

/** The `user` of an entry. */
export interface User {
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

/** The `context` of an entry. */
export interface Context {
  cluster?: string;
  user?: string;
  namespace?: string;
}

/** One named entry, and where it stands: relative paths in it start at its file's folder. */
export interface Entry<T> {
  name: string;
  value: T;
  at: string;
  folder: string;
}

/** Everything that the files name. */
export interface Config {
  where: string;
  current: string;
  clusters: Entry<Cluster>[];
  users: Entry<User>[];
  contexts: Entry<Context>[];
}

/** Reads a kubeconfig given as its text or as paths joined by colons. */
export const readConfig = (source: string): Config =>
  /\n|^\s*\{/.test(source) ? configIn(source, 'kubeconfig', '.') : configAt(source);

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

/** Fields in which YAML may see a number or a list where a text is meant. */
const texts = new Set(
  [
    'server certificate-authority certificate-authority-data tls-server-name proxy-url cluster user namespace',
    'client-certificate client-certificate-data client-key client-key-data',
    'token tokenFile username password as as-uid',
  ].flatMap((names) => names.split(' ')),
);

function entryIn<T>(item: unknown, field: string, { at, folder }: { at: string; folder: string }): Entry<T> {
  const { name, [field]: value } = (item ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') throw new Error(`${at}.name is missing`);
  if (value !== null && value !== undefined && typeof value !== 'object')
    throw new Error(`${at}.${field} is not an object`);
  const wrong = Object.entries(value ?? {}).find(
    ([key, one]) => texts.has(key) && one !== null && typeof one !== 'string',
  );
  if (wrong) throw new Error(`${at}.${field}.${wrong[0]} is not a text; put it in quotes`);
  return { name, value: (value ?? {}) as T, at, folder };
}

/** The context that is asked for, or else the current one. */
export function chosenContext({ where, current, contexts }: Config, asked: string | undefined): Entry<Context> {
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

/** The cluster or user that a context names; a context may do without a user. */
export function named<L extends 'clusters' | 'users'>(
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
