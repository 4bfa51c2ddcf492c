// The Secret of a model as a pod sees it: a folder with one file for each key. Values are read once, go nowhere but into
// headers and signatures, and never into a message.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Request } from './http/client.ts';
import { Refused } from './outcome.ts';

/** The keys that mean something. */
const keys = [
  'token',
  'username',
  'password',
  'accessKeyID',
  'secretAccessKey',
  'sessionToken',
  'region',
  'endpoint',
  'ca.crt',
] as const;

/** What a Secret holds. */
export type Secrets = Readonly<Partial<Record<(typeof keys)[number], string>>>;

const most = 1024 * 1024;

/** Reads the keys of a mounted Secret; a folder that is not there holds none. */
export async function readSecrets(folder: string): Promise<Secrets> {
  const found: Partial<Record<(typeof keys)[number], string>> = {};
  for (const key of keys) {
    const text = await readKey(join(folder, key));
    if (text !== undefined && text !== '') found[key] = text;
  }
  return found;
}

/** Editors and `kubectl create secret --from-file` leave a line break behind. */
async function readKey(path: string): Promise<string | undefined> {
  const size = await stat(path)
    .then((found) => found.size)
    .catch(() => undefined);
  if (size === undefined) return undefined;
  if (size > most)
    throw new Refused('SourceUnauthorized', `the key ${path} of the Secret is larger than ${most} bytes`);
  return (await readFile(path, 'utf8')).trim();
}

/** The texts of Docker configurations, one file each; names with dots before them are the kubelet's own links. */
export async function readConfigs(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const texts = await Promise.all(
    names.filter((name) => !name.startsWith('..')).map((name) => readKey(join(folder, name))),
  );
  return texts.filter((text) => text !== undefined);
}

/** Headers for a server that wants a token, or a name and a password. */
export function authorizeBy({ token, username, password }: Secrets): Request['authorize'] {
  if (token !== undefined) return () => Promise.resolve({ authorization: `Bearer ${token}` });
  if (username === undefined || password === undefined) return undefined;
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return () => Promise.resolve({ authorization: `Basic ${basic}` });
}
