// Where the API server is and how to prove who we are. A credential is asked for before every request, because tokens
// and certificates rotate under a running operator; as long as nothing changed the very same object comes back, so
// that the transport sees by identity whether it needs new connections.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../base/index.ts';

/** How the connection itself is secured. A change needs a new connection. */
export interface Tls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
  readonly insecure?: boolean;
}

/** What one request needs to be let in. */
export interface Credential {
  /** Header names and values, one after the other. */
  readonly headers: readonly string[];
  readonly tls: Tls;
  /** What must never show in a message. */
  readonly secret?: string;
}

/** Where the server is and how to authenticate there. */
export interface ClusterAccess {
  /** URL of the API server, perhaps with a path. */
  readonly server: string;
  /** The credential for now. `refused` is one that the server has just answered 401 to: look again, whatever its age. */
  credential(clock: Clock, refused?: Credential): Credential | Promise<Credential>;
}

/** Files are read again after this time; kubelet rotates a token long before it ends. */
const freshFor = 60_000;

/** Access by what can be read from files at any time. */
export class ReadAccess implements ClusterAccess {
  readonly server: string;
  readonly #read: () => Credential;
  #current: Credential | undefined;
  #until = 0;

  /** `read` gives the credential of this moment and throws an error for people when it cannot. */
  constructor(server: string, read: () => Credential) {
    this.server = server;
    this.#read = read;
  }

  credential(clock: Clock, refused?: Credential): Credential {
    const now = clock.monotonic();
    if (this.#current && this.#current !== refused && now < this.#until) return this.#current;
    this.#until = now + freshFor;
    this.#current = this.#again();
    return this.#current;
  }

  /** A file may be missing for a moment while it is replaced: what was read before stays good until the server refuses it. */
  #again(): Credential {
    try {
      return unchanged(this.#current, this.#read());
    } catch (error) {
      if (this.#current) return this.#current;
      throw error;
    }
  }
}

/** The old credential, or the old part of it, where nothing changed. */
export function unchanged(before: Credential | undefined, after: Credential): Credential {
  if (!before) return after;
  const tls = same(before.tls, after.tls) ? before.tls : after.tls;
  return tls === before.tls && same(before.headers, after.headers) ? before : { ...after, tls };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Where a pod finds its API server: the service's address and the folder of its service account. */
export interface InClusterPaths {
  host: string;
  port: string | number;
  folder?: string;
}

/** Access from inside a pod, by the service account's token and the cluster's CA, both read again when they rotate. */
export function inCluster({
  host,
  port,
  folder = '/var/run/secrets/kubernetes.io/serviceaccount',
}: InClusterPaths): ClusterAccess {
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const owner = 'in-cluster credentials';
  const read = (file: string) => readText(join(folder, file), owner);
  return new ReadAccess(server, () => ({
    ...bearer(read('token').trim(), `${owner}: ${join(folder, 'token')}`),
    tls: { ca: authority(read('ca.crt'), `${owner}: ${join(folder, 'ca.crt')}`) },
  }));
}

/** The headers of a bearer token. */
export function bearer(token: string, owner: string): { headers: string[]; secret: string } {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${owner} is empty or holds characters that no token has`);
  return { headers: ['authorization', `Bearer ${token}`], secret: token };
}

/** A file as text; the error names what needed it. */
export function readText(path: string, owner: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new Error(`${owner}: cannot read ${path}${code === undefined ? '' : ` (${code})`}`, { cause });
  }
}

/** The certificates of an authority, if they are any: TLS itself would pass over broken ones without a word. */
export function authority(pem: string, owner: string): string {
  try {
    new X509Certificate(pem).toString();
    return pem;
  } catch (cause) {
    throw new Error(`${owner} holds no certificate that can be read`, { cause });
  }
}

/** A client certificate and its key, if they belong together; half of a rotation does not. */
export function pair(cert: string, key: string, owner: string): { cert: string; key: string } {
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (cause) {
    const { reason } = cause as { reason?: string };
    throw new Error(`${owner}: the client certificate and its key cannot be used (${reason ?? 'unreadable'})`, {
      cause,
    });
  }
}
