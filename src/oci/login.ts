// Proves to a registry who we are: by name and password, or by tokens of the server that the registry names, one for
// each set of rights, kept until shortly before they end. A password goes to the registry or to its token server, both
// over TLS unless the host is named as one without; never anywhere else.

import type { Clock } from '../base/index.ts';
import { type Challenge, challengesIn } from './challenge.ts';
import type { Credential, Credentials } from './credentials.ts';
import { RegistryError, reasonOf, saidIn } from './errors.ts';
import type { Place } from './reference.ts';
import { type Answer, type Question, someText, type Wire } from './wire.ts';

/** What a login needs. */
export interface LoginOptions {
  wire: Wire;
  clock: Clock;
  credentials: Credentials;
  userAgent: string;
  /** Throws when a URL must not be asked. */
  allowed: (url: URL) => void;
}

/** What is asked for: a repository and rights in it, such as `repository:a/b:pull,push`. */
export type Scopes = readonly string[];

type Scheme = { name: 'basic' } | { name: 'bearer'; realm: URL; service: string | undefined };

interface Token {
  value: Promise<string>;
  until: number;
}

const largestToken = 1024 * 1024;
/** Registries that say nothing mean a minute. */
const usualLife = 60;

/** Authorization headers for any number of registries. */
export class Login {
  readonly #options: LoginOptions;
  readonly #schemes = new Map<string, Scheme>();
  readonly #tokens = new Map<string, Token>();

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /** The header for a request, as far as it is known what the registry wants. */
  async authorization(place: Place, scopes: Scopes): Promise<string | undefined> {
    const scheme = this.#schemes.get(place.host);
    if (!scheme) return undefined;
    const credential = this.#options.credentials(place);
    if (credential && 'registryToken' in credential) return `Bearer ${credential.registryToken}`;
    if (scheme.name === 'bearer') return `Bearer ${await this.#token(place, scheme, credential, scopes)}`;
    return credential && 'password' in credential ? basic(credential) : undefined;
  }

  /** The header after a 401, or nothing when there is none that could do better than `refused`. */
  async again(place: Place, scopes: Scopes, answer: Answer, refused: string | undefined): Promise<string | undefined> {
    const scheme = schemeOf(challengesIn(answer.headers['www-authenticate']), place);
    if (!scheme) return undefined;
    this.#schemes.set(place.host, scheme);
    if (refused !== undefined) this.#tokens.delete(keyOf(place, scopes));
    const header = await this.authorization(place, scopes);
    return header === refused ? undefined : header;
  }

  #token(place: Place, scheme: Scheme & { name: 'bearer' }, credential: Credential | undefined, scopes: Scopes) {
    const key = keyOf(place, scopes);
    const known = this.#tokens.get(key);
    const now = this.#options.clock.monotonic();
    if (known && now < known.until) return known.value;
    const token: Token = {
      value: this.#fetched(place, scheme, credential, scopes, (life) => (token.until = now + life)),
      until: Infinity,
    };
    this.#tokens.set(key, token);
    token.value.catch(() => this.#tokens.delete(key));
    return token.value;
  }

  async #fetched(
    place: Place,
    scheme: Scheme & { name: 'bearer' },
    credential: Credential | undefined,
    scopes: Scopes,
    lives: (milliseconds: number) => void,
  ): Promise<string> {
    this.#options.allowed(scheme.realm);
    const question = tokenQuestion(scheme, credential, scopes, this.#options.userAgent);
    const answer = await this.#options.wire.ask(question);
    if (answer.status !== 200) throw await refusal(place, scheme.realm, answer);
    const body = await answer.body.whole(largestToken, (size) => unusable(scheme.realm, `a token of ${size} bytes`));
    const { token, seconds } = tokenIn(body, scheme.realm);
    lives(Math.max(seconds * 500, seconds * 1_000 - 10_000));
    return token;
  }
}

const keyOf = ({ host }: Place, scopes: Scopes): string => `${host} ${scopes.join(' ')}`;

const basic = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** The first challenge that we can answer; tokens before passwords. */
function schemeOf(challenges: readonly Challenge[], { host }: Place): Scheme | undefined {
  const bearer = challenges.find(({ scheme, parameters }) => scheme === 'bearer' && parameters['realm'] !== undefined);
  if (!bearer) return challenges.some(({ scheme }) => scheme === 'basic') ? { name: 'basic' } : undefined;
  const realm = URL.parse(bearer.parameters['realm'] ?? '');
  if (!realm || realm.username !== '' || realm.password !== '')
    throw new RegistryError({ reason: 'Protocol', message: `${host} names a token server that is no URL` });
  return { name: 'bearer', realm, service: bearer.parameters['service'] };
}

function tokenQuestion(
  { realm, service }: Scheme & { name: 'bearer' },
  credential: Credential | undefined,
  scopes: Scopes,
  userAgent: string,
): Question {
  const asked: [string, string][] = service === undefined ? [] : [['service', service]];
  const headers = { 'user-agent': userAgent, accept: 'application/json' };
  if (credential && 'identityToken' in credential) {
    const fields = { scope: scopes.join(' '), client_id: 'baton', grant_type: 'refresh_token' };
    const secret = { refresh_token: credential.identityToken };
    const form = new URLSearchParams({ ...Object.fromEntries(asked), ...fields, ...secret }).toString();
    const body = { length: Buffer.byteLength(form), open: () => Buffer.from(form) };
    return {
      method: 'POST',
      url: realm,
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    };
  }
  const url = new URL(realm);
  for (const [name, value] of [...asked, ...scopes.map((scope) => ['scope', scope] as const)])
    url.searchParams.append(name, value);
  const known = credential && 'password' in credential ? { authorization: basic(credential) } : {};
  return { method: 'GET', url, headers: { ...headers, ...known } };
}

function tokenIn(body: Buffer, realm: URL): { token: string; seconds: number } {
  let said: { token?: unknown; access_token?: unknown; expires_in?: unknown } | null;
  try {
    said = JSON.parse(body.toString()) as typeof said;
  } catch {
    throw unusable(realm, 'an answer that is not JSON');
  }
  const token = said?.token ?? said?.access_token;
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw unusable(realm, 'no token');
  const life = said?.expires_in;
  return { token, seconds: typeof life === 'number' && life > 0 ? Math.min(life, 86_400) : usualLife };
}

const unusable = ({ host }: URL, what: string): RegistryError =>
  new RegistryError({ reason: 'Protocol', message: `the token server ${host} gives ${what}` });

async function refusal({ host, repository }: Place, realm: URL, answer: Answer): Promise<RegistryError> {
  const { codes, said } = saidIn(await someText(answer));
  const what = `${host}/${repository}: the token server ${realm.host} refuses: ${answer.status}${said && ` ${said}`}`;
  return new RegistryError({ reason: reasonOf(answer.status), message: what, status: answer.status, codes });
}
