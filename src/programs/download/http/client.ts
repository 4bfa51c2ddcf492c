// GET and nothing else, over connections that are kept. Every host goes through the dialer, redirects too; what proves who
// we are goes only to the host that it was meant for, and nothing goes from https to http.

import { asError, type DialOptions, EgressDenied, isTlsFault } from '../../../base/index.ts';
import { Fault, Refused } from '../outcome.ts';
import { Connection, type Sink } from './connection.ts';
import { framingOf, type Head } from './head.ts';
import { Collected } from './collected.ts';

/** A question. */
export interface Request {
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /** Headers that prove who we are, made anew for each URL of the same host. */
  authorize?: ((url: URL) => Promise<Readonly<Record<string, string>>>) | undefined;
  signal: AbortSignal;
}

/** An answer whose body is still on its way: it must be read or dropped. */
export interface Answer {
  status: number;
  headers: ReadonlyMap<string, string>;
  /** Where it came from in the end. */
  url: URL;
  /** How long the body says it is. */
  length: number | undefined;
  read(sink: Sink): Promise<void>;
  text(most: number): Promise<string>;
  drop(): void;
}

/** Anything with which questions can be asked. */
export type Ask = (request: Request) => Promise<Answer>;

const mostRedirects = 10;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Connections to any number of hosts. */
export class Client {
  readonly #options: DialOptions & { stall: number };
  readonly #kept = new Map<string, Connection[]>();

  constructor(options: DialOptions & { stall: number }) {
    this.#options = options;
  }

  /** Asks, and follows where the answer points. */
  readonly ask: Ask = async (request) => {
    let { url } = request;
    for (let hops = 0; hops <= mostRedirects; hops++) {
      const secrets = sameParty(request.url, url) ? await request.authorize?.(url) : undefined;
      const answer = await this.#once({ ...request, url, headers: { ...request.headers, ...secrets } });
      const location = redirects.has(answer.status) ? answer.headers.get('location') : undefined;
      if (location === undefined) return answer;
      answer.drop();
      url = pointed(url, location);
    }
    throw new Refused('SourceNotFound', `${request.url.host} redirects more than ${mostRedirects} times`);
  };

  close(): void {
    for (const connection of [...this.#kept.values()].flat()) connection.close();
    this.#kept.clear();
  }

  async #once(request: Request): Promise<Answer> {
    request.signal.throwIfAborted();
    const kept = this.#kept.get(request.url.origin)?.pop();
    if (kept?.idle) {
      const answer = await this.#exchange(kept, request).catch((error: unknown) => {
        // It may have been closed over there while nobody looked.
        if (request.signal.aborted || !(error instanceof Fault)) throw error;
        return undefined;
      });
      if (answer) return answer;
    }
    return this.#exchange(await this.#connected(request), request);
  }

  async #connected({ url, signal }: Request): Promise<Connection> {
    const secure = url.protocol === 'https:';
    if (!secure && url.protocol !== 'http:')
      throw new Refused('EgressDenied', `${url.protocol} is no way to download: use http, https, s3, hf or oci`);
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    const port = Number(url.port || (secure ? 443 : 80));
    try {
      return await Connection.open({ hostname, port, secure, signal }, this.#options);
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(url.host, asError(error));
    }
  }

  async #exchange(connection: Connection, { url, headers, signal }: Request): Promise<Answer> {
    const stop = () => connection.close(asError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
    const leave = () => signal.removeEventListener('abort', stop);
    try {
      const head = await connection.ask(written(url, headers ?? {}));
      return this.#answer(connection, url, head, leave);
    } catch (error) {
      leave();
      connection.close();
      throw error;
    }
  }

  #answer(connection: Connection, url: URL, head: Head, leave: () => void): Answer {
    const framing = framingOf(head, url.host);
    const read = async (sink: Sink) => {
      try {
        await connection.read(framing, sink);
        if (head.keep && connection.idle) this.#keep(url.origin, connection);
        else connection.close();
      } finally {
        leave();
      }
    };
    return {
      status: head.status,
      headers: head.headers,
      url,
      length: framing.by === 'length' ? framing.length : undefined,
      read,
      async text(most) {
        const collected = new Collected(most, url.host);
        await read(collected);
        return collected.text();
      },
      drop() {
        leave();
        connection.close();
      },
    };
  }

  #keep(origin: string, connection: Connection): void {
    const kept = this.#kept.get(origin) ?? [];
    this.#kept.set(origin, [...kept.filter(({ idle }) => idle), connection]);
  }
}

/** The same host by the same way, or by a safer one. */
function sameParty(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const safer = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  return safer && from.hostname === to.hostname;
}

function pointed(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href))
    throw new Refused('SourceNotFound', `${from.host} redirects to something that is no URL; check modelURL`);
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw new Refused('EgressDenied', `${from.host} redirects to ${to.protocol}, which is no way to download`);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw new Refused('SourceTLSError', `${from.host} redirects from https to http, to ${to.host}`);
  to.username = '';
  to.password = '';
  to.hash = '';
  return to;
}

function written(url: URL, headers: Readonly<Record<string, string>>): string {
  const fields = Object.entries({
    host: url.host,
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'baton',
    ...headers,
  });
  for (const [name, value] of fields)
    if (!/^[\t -~]*$/.test(value))
      throw new Refused('SourceUnauthorized', `the header ${name} would hold characters that none may hold`);
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${fields.map((field) => field.join(': ')).join('\r\n')}\r\n\r\n`;
}

/** Why there is no connection, in words. */
function unreachable(host: string, error: Error): Error {
  if (error instanceof EgressDenied) return new Refused('EgressDenied', error.message);
  // What OpenSSL says in full has addresses of its memory in it; its reason has not.
  const { code = '', reason = error.message } = error as NodeJS.ErrnoException & { reason?: string };
  if (isTlsFault(code)) return new Refused('SourceTLSError', `${host}: ${tlsWords[code] ?? reason} (${code})`, error);
  return new Fault(`${host} cannot be reached: ${words[code] ?? (error.message || code)}`, { cause: error });
}

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'the name server does not answer',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it does not answer',
};

const tlsWords: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is signed by nobody but itself; put its authority into ca.crt of the Secret in credentials',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate is signed by an unknown authority; put it into ca.crt of the Secret in credentials',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is signed by an unknown authority; put it into ca.crt of the Secret in credentials',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is signed by an unknown authority; put it into ca.crt of the Secret in credentials',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; write http:// in modelURL if that is meant',
};
