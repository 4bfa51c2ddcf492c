// Who we are at which registry, read from the text of a Docker configuration, as pull secrets hold it. It is data: no
// credential helper is started. Entries are chosen as a kubelet chooses them: by host, with stars for parts of it, and
// by the longest path.

/** How we prove who we are. */
export type Credential =
  | { username: string; password: string }
  /** A refresh token, exchanged at the token server. */
  | { identityToken: string }
  /** A token that the registry itself takes. */
  | { registryToken: string };

/** The credential for a repository, if there is one. */
export type Credentials = (place: { host: string; repository: string }) => Credential | undefined;

/** Where the images of the well-known hub really are, by the name that people write. */
export const hub = { name: 'docker.io', host: 'registry-1.docker.io', key: 'index.docker.io' } as const;

interface Entry {
  host: string[];
  path: string;
  credential: Credential;
}

/** Credentials from the text of a `config.json` (or of the older `.dockercfg`); the error names what is wrong, no value. */
export function dockerCredentials(text: string): Credentials {
  const entries = Object.entries(authsIn(text)).flatMap(([key, value]) => entryOf(key, value));
  return ({ host, repository }) => {
    const asked = host === hub.name || host === hub.host ? hub.key : host;
    const fitting = entries.filter((entry) => fits(entry, asked, repository));
    return fitting.toSorted((a, b) => b.path.length - a.path.length)[0]?.credential;
  };
}

function authsIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the registry credentials are not JSON: they should be the text of a Docker config.json');
  }
  if (!isRecord(value)) throw new Error('the registry credentials are not an object with "auths"');
  return isRecord(value['auths']) ? value['auths'] : 'credHelpers' in value || 'credsStore' in value ? {} : value;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function entryOf(key: string, value: unknown): Entry[] {
  const credential = isRecord(value) ? credentialIn(value) : undefined;
  const [host = '', ...path] = key.replace(/^https?:\/\//, '').split('/');
  const rest = path
    .join('/')
    .replace(/^v[12](?:\/|$)/, '')
    .replace(/\/+$/, '');
  return credential && host !== '' ? [{ host: host.split('.'), path: rest, credential }] : [];
}

function credentialIn(value: Record<string, unknown>): Credential | undefined {
  const { auth, username, password, identitytoken, registrytoken } = value;
  if (isText(registrytoken)) return { registryToken: registrytoken };
  if (isText(identitytoken)) return { identityToken: identitytoken };
  if (isText(username) && typeof password === 'string') return { username, password };
  const decoded = isText(auth) ? Buffer.from(auth, 'base64').toString() : '';
  const colon = decoded.indexOf(':');
  return colon > 0 ? { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) } : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function fits(entry: Entry, host: string, repository: string): boolean {
  const parts = host.split('.');
  const sameHost = parts.length === entry.host.length && entry.host.every((part, at) => matches(part, parts[at] ?? ''));
  return sameHost && (entry.path === '' || repository === entry.path || repository.startsWith(`${entry.path}/`));
}

/** A star stands for any characters of one part. */
function matches(pattern: string, part: string): boolean {
  if (!pattern.includes('*')) return pattern === part;
  const literal = pattern.split('*').map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`).test(part);
}
