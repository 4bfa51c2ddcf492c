// The only way out for what follows a URL that somebody wrote. A name is resolved once, every address of it is judged, and
// the connection goes to an address that was judged: a second answer of the name server can change nothing.

import { lookup as systemLookup } from 'node:dns/promises';
import { connect, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { type Clock, sleep } from './clock.ts';
import { deniedBecause, type EgressRules } from './egress.ts';
import { asError } from './errors.ts';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** As the machine resolves names. */
export const systemResolve: Resolve = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map(({ address }) => address);

/** A host that must not be reached. Nothing was sent to it. */
export class EgressDenied extends Error {
  constructor(host: string, address: string, why: string) {
    super(
      address === host
        ? `${host} must not be reached: ${why}`
        : `${host} is ${address}, which must not be reached: ${why}`,
    );
    this.name = 'EgressDenied';
  }
}

/** What every connection of a program has in common. */
export interface DialOptions {
  rules: EgressRules;
  resolve: Resolve;
  clock: Clock;
  /** Milliseconds until a connection must be ready, TLS included. */
  within: number;
  /** Whom to trust, in place of the usual authorities. */
  secureContext?: SecureContext;
}

/** Where to go. */
export interface Destination {
  /** Without brackets. */
  hostname: string;
  port: number;
  secure: boolean;
  /** The name in the certificate, where it is not that of the host. */
  servername?: string;
  onread?: OnReadOpts;
  signal?: AbortSignal;
}

/** A connection that is ready to use. */
export async function dial(to: Destination, options: DialOptions): Promise<Socket> {
  const addresses = await judged(to, options);
  const faults: Error[] = [];
  for (const address of addresses) {
    to.signal?.throwIfAborted();
    try {
      return await connected(to, address, options);
    } catch (error) {
      faults.push(asError(error));
    }
  }
  throw faults[0] ?? new Error(`${to.hostname} has no address`);
}

/** Every address of the host. One that is forbidden forbids the host: who mixes them means no good. */
async function judged({ hostname, port }: Destination, options: DialOptions): Promise<readonly string[]> {
  const { rules, resolve } = options;
  const named = isIP(hostname) === 0;
  const addresses = named ? await inTime(resolve(hostname), options, 'no answer of a name server') : [hostname];
  for (const address of addresses) {
    const why = deniedBecause(address, port, rules);
    if (why !== undefined) throw new EgressDenied(hostname, address, why);
  }
  return addresses.slice(0, mostAddresses);
}

const mostAddresses = 6;

async function connected(to: Destination, address: string, options: DialOptions): Promise<Socket> {
  const socket = opened(to, address, options.secureContext);
  const ready = new Promise<void>((resolve, reject) => {
    socket.once(to.secure ? 'secureConnect' : 'connect', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed before it was ready')));
  });
  const stop = () => socket.destroy(asError(to.signal?.reason));
  to.signal?.addEventListener('abort', stop, { once: true });
  try {
    await inTime(ready, options, 'no connection');
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    to.signal?.removeEventListener('abort', stop);
  }
}

/** What a promise gives, if it does so in time. */
async function inTime<T>(promise: Promise<T>, { clock, within }: DialOptions, otherwise: string): Promise<T> {
  const end = new AbortController();
  const late = async (): Promise<never> => {
    await sleep(clock, within, end.signal);
    throw new Error(`${otherwise} within ${within / 1_000} s`);
  };
  const missed = late();
  missed.catch(() => {});
  promise.catch(() => {});
  try {
    return await Promise.race([promise, missed]);
  } finally {
    end.abort();
  }
}

function opened(to: Destination, address: string, secureContext: SecureContext | undefined): Socket {
  const place = { host: address, port: to.port, ...(to.onread && { onread: to.onread }) };
  if (!to.secure) return connect({ ...place, noDelay: true });
  const name = to.servername ?? to.hostname;
  const trust = { rejectUnauthorized: true, ...(secureContext && { secureContext }) };
  return connectTls({ ...place, ...trust, ...(isIP(name) === 0 && { servername: name }), ALPNProtocols: ['http/1.1'] });
}

/** What undici tells when it wants a connection. */
interface Wanted {
  hostname: string;
  port: string;
  protocol: string;
  servername?: string | undefined;
  /** Where to put what comes; undici itself has no wish here. */
  onread?: OnReadOpts;
}

type Tell = (...result: [null, Socket] | [Error, null]) => void;

/** The same as undici's `connect`. */
export const connector =
  (options: DialOptions) =>
  ({ hostname, port, protocol, servername, onread }: Wanted, tell: Tell): void => {
    const secure = protocol === 'https:';
    const to = { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)), secure };
    const wishes = { ...(servername !== undefined && servername !== '' && { servername }), ...(onread && { onread }) };
    dial({ ...to, ...wishes }, options).then(
      (socket) => tell(null, socket),
      (error: unknown) => tell(asError(error), null),
    );
  };
