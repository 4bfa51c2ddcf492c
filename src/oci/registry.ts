// A client for registries: every request goes through here and gets its credential, its redirects and its bounds. What
// is asked, and what the answers mean, is in the files beside: resolve.ts, blobs.ts, upload.ts.

import { type Clock, delayAfter, sleep } from '../base/index.ts';
import { type Credentials, hub } from './credentials.ts';
import { mayPass, RegistryError, reasonOf, saidIn } from './errors.ts';
import { Login, type Scopes } from './login.ts';
import type { Place } from './reference.ts';
import { type Answer, header, type Outgoing, type Question, someText, Wire, type WireOptions } from './wire.ts';

/** What a client is given. */
export interface RegistryOptions extends WireOptions {
  clock: Clock;
  random: () => number;
  /** Who we are at which registry; without it, nobody. */
  credentials?: Credentials;
  /** Hosts, with their ports, that are spoken to without TLS. All others are not, whatever they redirect to. */
  plainHttp?: readonly string[];
  userAgent?: string;
}

/** One request to a registry. */
export interface Ask {
  method: Question['method'];
  place: Place;
  /** Below the repository, like `manifests/latest`; or a URL that the registry gave us. */
  to: string | URL;
  /** What we want to do there. */
  actions: 'pull' | 'pull,push';
  /** A repository from which something is mounted. */
  mountFrom?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  body?: Outgoing | undefined;
  signal?: AbortSignal | undefined;
}

const mostRedirects = 5;
const patience = { first: 200, most: 10_000 };
/** Tries in a row that may fail before we do. */
export const mostFailures = 6;
const longestWait = 60_000;

/** Connections, tokens and rules for talking to registries. */
export class Registry implements AsyncDisposable {
  readonly #options: RegistryOptions;
  readonly #wire: Wire;
  readonly #login: Login;
  readonly #userAgent: string;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#wire = new Wire(options);
    this.#userAgent = options.userAgent ?? 'baton';
    this.#login = new Login({
      wire: this.#wire,
      clock: options.clock,
      credentials: options.credentials ?? (() => undefined),
      userAgent: this.#userAgent,
      allowed: this.#allowed,
    });
  }

  /** Asks, with whatever credential it takes; any answer but 401 comes back, its body still to be read. */
  async ask(ask: Ask): Promise<Answer> {
    const scopes = scopesOf(ask);
    const url = this.urlOf(ask.place, ask.to);
    const authorization = this.#isHome(ask.place, url) ? await this.#login.authorization(ask.place, scopes) : undefined;
    const { answer, from } = await this.#follow(ask, url, authorization);
    // Only the registry itself may ask who we are, and name a token server.
    if (answer.status !== 401 || !this.#isHome(ask.place, from)) return answer;
    const better = await this.#login.again(ask.place, scopes, answer, authorization);
    if (better === undefined) return answer;
    await answer.body.discard();
    return (await this.#follow(ask, url, better)).answer;
  }

  /** The same, where only the named statuses will do. */
  async expect(ask: Ask, ...statuses: number[]): Promise<Answer> {
    const answer = await this.ask(ask);
    return statuses.includes(answer.status) ? answer : Promise.reject(await refusal(ask, answer));
  }

  /** Does something again while it fails for reasons that may pass; `work` must be harmless to repeat. */
  async patiently<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        await this.pause(error, failures, signal);
      }
    }
  }

  /** Waits before the next try; throws the error when there should be none. */
  async pause(error: unknown, failures: number, signal?: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    if (!mayPass(error) || failures >= mostFailures || signal?.aborted === true) throw error;
    if ((error.retryAfter ?? 0) > longestWait) throw error;
    await sleep(clock, Math.max(error.retryAfter ?? 0, delayAfter(failures, patience, random)), signal);
  }

  /** The header for requests that are made by other means, as far as an earlier answer told what is wanted. */
  authorization(place: Place): Promise<string | undefined> {
    return this.#login.authorization(place, scopesOf({ place, actions: 'pull' }));
  }

  /** Where a request goes. */
  urlOf({ host, repository }: Place, to: string | URL): URL {
    if (to instanceof URL) return to;
    const plain = this.#options.plainHttp?.includes(host) === true;
    return new URL(`${plain ? 'http' : 'https'}://${host === hub.name ? hub.host : host}/v2/${repository}/${to}`);
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Credentials are for the registry itself, never for where it sends us. */
  #isHome(place: Place, url: URL): boolean {
    return url.origin === this.urlOf(place, '').origin;
  }

  /** The answer, and where it came from in the end. */
  async #follow(ask: Ask, first: URL, authorization: string | undefined): Promise<{ answer: Answer; from: URL }> {
    const { method, body, signal } = ask;
    const common = { 'user-agent': this.#userAgent, ...ask.headers };
    let url = first;
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      this.#allowed(url);
      const known = authorization !== undefined && this.#isHome(ask.place, url) ? { authorization } : {};
      const answer = await this.#wire.ask({ method, url, headers: { ...common, ...known }, body, signal });
      const next = redirectOf(answer, method, url);
      if (!next) return { answer, from: url };
      await answer.body.discard();
      url = next;
    }
    throw redirectError(first, `more than ${mostRedirects} redirects`);
  }

  readonly #allowed = (url: URL): void => {
    if (url.username !== '' || url.password !== '') throw redirectError(url, 'a URL with a password in it');
    if (url.protocol === 'https:') return;
    if (url.protocol !== 'http:') throw redirectError(url, `a URL of the kind ${url.protocol}`);
    if (this.#options.plainHttp?.includes(url.host) === true) return;
    throw redirectError(url, 'a connection without TLS, which is only for hosts that are named as such');
  };
}

const redirectError = ({ host }: URL, what: string): RegistryError =>
  new RegistryError({ reason: 'Redirect', message: `${host}: ${what}` });

const scopesOf = ({ place, actions, mountFrom }: Pick<Ask, 'place' | 'actions' | 'mountFrom'>): Scopes => [
  `repository:${place.repository}:${actions}`,
  ...(mountFrom === undefined ? [] : [`repository:${mountFrom}:pull`]),
];

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const bodyKeeping: ReadonlySet<number> = new Set([307, 308]);

/** Where an answer sends us. What changes something is only sent on where the answer says that it may. */
function redirectOf(answer: Answer, method: Ask['method'], url: URL): URL | undefined {
  const reads = method === 'GET' || method === 'HEAD';
  if (!(reads ? redirects : bodyKeeping).has(answer.status)) return undefined;
  const said = header(answer, 'location') ?? '';
  const next = said === '' ? undefined : URL.parse(said, url.href);
  if (!next) throw redirectError(url, 'a redirect to nowhere');
  return next;
}

/** The error for an answer that will not do. */
export async function refusal({ method, place, to }: Ask, answer: Answer): Promise<RegistryError> {
  const { codes, said } = saidIn(await someText(answer).catch(() => ''));
  const what = typeof to === 'string' ? to.split('?')[0] : 'the upload';
  const seconds = Number(header(answer, 'retry-after') ?? Number.NaN);
  return new RegistryError({
    reason: reasonOf(answer.status),
    status: answer.status,
    codes,
    retryAfter: Number.isFinite(seconds) ? seconds * 1_000 : undefined,
    message: `${place.host}/${place.repository}: ${method} ${what}: ${answer.status}${said && ` ${said}`}`,
  });
}
