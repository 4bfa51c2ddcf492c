// Requests on the wire. Two pools of HTTP/1.1 connections for one server and one set of certificates: one for requests,
// one for watches, so that neither waits for the other. When the certificates change, new pools take over and the old
// ones end with their last answer.

import { createSecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';
import type { Clock } from '../../base/index.ts';
import type { ClusterAccess, Credential, Tls } from './access.ts';

/** Just below what servers and balancers usually allow an idle connection. */
const idleFor = 30_000;
/** More do not make a server faster; fewer would let slow answers hold up the rest. */
const requestConnections = 64;

interface Pools {
  readonly tls: Tls;
  readonly requests: Pool;
  readonly watches: Pool;
}

export type Lane = 'requests' | 'watches';

/** Connections to one cluster, and the credential that is good at the moment. */
export class Transport {
  readonly clock: Clock;
  /** The path in front of all paths, where the server has one. */
  readonly prefix: string;
  readonly #cluster: ClusterAccess;
  readonly #origin: string;
  readonly #userAgent: string;
  #pools: Pools | undefined;
  readonly #leaving = new Set<Pool>();
  #headersFor: Credential | undefined;
  readonly #headers = new Map<string, string[]>();
  #closed = false;

  constructor(cluster: ClusterAccess, clock: Clock, userAgent: string) {
    const url = new URL(cluster.server);
    this.#cluster = cluster;
    this.#origin = url.origin;
    this.prefix = url.pathname.replace(/\/+$/, '');
    this.clock = clock;
    this.#userAgent = userAgent;
  }

  get closed(): boolean {
    return this.#closed;
  }

  credential(refused?: Credential): Credential | Promise<Credential> {
    return this.#cluster.credential(this.clock, refused);
  }

  dispatch(
    lane: Lane,
    credential: Credential,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ) {
    this.#poolsFor(credential.tls)[lane].dispatch(options, handler);
  }

  /** Header names and values, one after the other; the same array for the same question. */
  headers(credential: Credential, accept: string, contentType: string): string[] {
    if (this.#headersFor !== credential) {
      this.#headers.clear();
      this.#headersFor = credential;
    }
    const key = contentType + accept;
    let headers = this.#headers.get(key);
    if (!headers) {
      headers = ['accept', accept, 'user-agent', this.#userAgent, ...credential.headers];
      if (contentType !== '') headers.push('content-type', contentType);
      this.#headers.set(key, headers);
    }
    return headers;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const { requests, watches } = this.#pools ?? {};
    const all = [requests, watches, ...this.#leaving].filter((pool) => pool !== undefined);
    this.#pools = undefined;
    await Promise.all(all.map((pool) => pool.destroy()));
  }

  #poolsFor(tls: Tls): Pools {
    if (this.#pools?.tls === tls) return this.#pools;
    if (this.#closed) throw new Error('the client is closed');
    const before = this.#pools;
    const connect = tlsOptions(tls);
    const common = {
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleFor,
      connect,
    };
    this.#pools = {
      tls,
      requests: new Pool(this.#origin, { ...common, connections: requestConnections }),
      watches: new Pool(this.#origin, common),
    };
    if (before) this.#retire(before);
    return this.#pools;
  }

  #retire({ requests, watches }: Pools): void {
    for (const pool of [requests, watches]) {
      this.#leaving.add(pool);
      pool.close(() => this.#leaving.delete(pool));
    }
  }
}

/** The certificates are parsed once, not at every connection. */
function tlsOptions({ ca, cert, key, serverName, insecure }: Tls) {
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
  return {
    secureContext,
    rejectUnauthorized: insecure !== true,
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
