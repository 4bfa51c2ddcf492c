// Credentials from a program that the kubeconfig names (client.authentication.k8s.io v1 and v1beta1). It runs when there
// is no credential yet, when the last one has expired and when the server refused it; many requests that wait share one
// run. An operator has no terminal, so a program that insists on asking a person is refused with that reason.

import { spawn } from 'node:child_process';
import { isAbsolute, join } from 'node:path';
import type { Clock } from '../../base/index.ts';
import { bearer, type ClusterAccess, type Credential, pair, ReadAccess, type Tls, unchanged } from './access.ts';

/** The `exec` part of a kubeconfig's user. */
export interface ExecConfig {
  apiVersion?: string;
  command?: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: string;
}

/** Everything a run of the program depends on. */
export interface ExecPlugin {
  config: ExecConfig;
  /** For messages: which file and field named the program. */
  origin: string;
  /** Relative commands start here. */
  folder: string;
  env: Readonly<Record<string, string | undefined>>;
  /** What `provideClusterInfo` tells the program. */
  cluster: Record<string, unknown>;
  /** What the kubeconfig itself gives: the CA, headers for impersonation. Read again as its files may change. */
  read: () => Credential;
}

interface ExecStatus {
  token?: string;
  clientCertificateData?: string;
  clientKeyData?: string;
  expirationTimestamp?: string;
}

/** What a run of the program gave, and until when it is good. */
interface Given {
  headers: string[];
  secret?: string;
  certificate: Tls;
  expires: number;
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const runWithin = 60_000;
const mostOutput = 1024 * 1024;

/** Access by a program's answers. */
export class ExecAccess implements ClusterAccess {
  readonly server: string;
  readonly #plugin: ExecPlugin;
  readonly #kubeconfig: ReadAccess;
  #base: Credential | undefined;
  #given: Given | undefined;
  #current: Credential | undefined;
  #running: Promise<Credential> | undefined;

  constructor(server: string, plugin: ExecPlugin) {
    checkExec(plugin);
    this.server = server;
    this.#plugin = plugin;
    this.#kubeconfig = new ReadAccess(server, plugin.read);
  }

  credential(clock: Clock, refused?: Credential): Credential | Promise<Credential> {
    const base = this.#kubeconfig.credential(clock);
    if (this.#given && this.#current !== refused && clock.now() < this.#given.expires)
      return this.#joined(base, this.#given);
    this.#running ??= this.#run(clock).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(clock: Clock): Promise<Credential> {
    this.#given = givenBy(this.#plugin, await outputOf(this.#plugin, clock));
    this.#base = undefined;
    return this.#joined(this.#kubeconfig.credential(clock), this.#given);
  }

  #joined(base: Credential, given: Given): Credential {
    if (this.#current && this.#base === base) return this.#current;
    const { headers, certificate, secret } = given;
    const tls = { ...base.tls, ...certificate };
    this.#base = base;
    this.#current = unchanged(this.#current, {
      headers: [...headers, ...base.headers],
      tls,
      ...(secret && { secret }),
    });
    return this.#current;
  }
}

/** Finds what could never work before the first request does. */
function checkExec({ config, origin }: ExecPlugin): void {
  if (!config.command) throw new Error(`${origin}.command is missing`);
  if (!versions.includes(config.apiVersion ?? ''))
    throw new Error(`${origin}.apiVersion is "${config.apiVersion ?? ''}"; ${versions.join(' and ')} are supported`);
  if (config.interactiveMode === 'Always')
    throw new Error(
      `${origin}.interactiveMode is Always, but there is no terminal here; use a credential that needs none`,
    );
}

function givenBy(plugin: ExecPlugin, output: string): Given {
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = statusIn(plugin, output);
  const { origin } = plugin;
  if (!token && !(cert && key))
    throw new Error(`${origin}: the program gave neither a token nor a certificate with its key`);
  return {
    ...(token ? bearer(token, `${origin}: the token`) : { headers: [] }),
    certificate: cert && key ? pair(cert, key, origin) : {},
    expires: expirationTimestamp ? Date.parse(expirationTimestamp) : Infinity,
  };
}

function statusIn({ config, origin }: ExecPlugin, output: string): ExecStatus {
  const wrong = (why: string) => new Error(`${origin}: "${config.command}" ${why}`);
  let answer: { apiVersion?: string; kind?: string; status?: ExecStatus };
  try {
    answer = JSON.parse(output) as typeof answer;
  } catch {
    throw wrong('did not print JSON'); // without the parser's words: they quote the output, and so perhaps a token
  }
  if (answer?.kind !== 'ExecCredential') throw wrong('did not print an ExecCredential');
  if (answer.apiVersion !== config.apiVersion)
    throw wrong(`answered in ${answer.apiVersion ?? 'no apiVersion'}, the kubeconfig asks for ${config.apiVersion}`);
  if (!answer.status) throw wrong('printed an ExecCredential without a status');
  const { expirationTimestamp } = answer.status;
  if (expirationTimestamp !== undefined && Number.isNaN(Date.parse(expirationTimestamp)))
    throw wrong('gave an expirationTimestamp that is no time');
  return answer.status;
}

/** What the program prints; an error names the command, how to get it, and its own last words. */
function outputOf(plugin: ExecPlugin, clock: Clock): Promise<string> {
  const { config, origin, folder } = plugin;
  const named = config.command ?? '';
  const command = named.includes('/') && !isAbsolute(named) ? join(folder, named) : named;
  return new Promise((resolve, reject) => {
    const failed = (why: string, cause?: unknown) =>
      reject(new Error(`${origin}: "${named}" ${why}`, cause === undefined ? undefined : { cause }));
    const child = spawn(command, config.args ?? [], { env: environment(plugin), stdio: ['ignore', 'pipe', 'pipe'] });
    const cancel = clock.after(runWithin, () => {
      child.kill('SIGKILL');
      failed(`did not end within ${runWithin / 1000} s`);
    });
    let out = '';
    let complaints = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out = (out + text).slice(0, mostOutput)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints = (complaints + text).slice(-4096)));
    child.on('error', (error: NodeJS.ErrnoException) => {
      cancel();
      failed(error.code === 'ENOENT' ? `is not installed${hint(config)}` : `cannot run: ${error.message}`, error);
    });
    child.on('close', (code, signal) => {
      cancel();
      if (code === 0) return resolve(out);
      failed(`failed with ${code === null ? `signal ${signal}` : `exit code ${code}`}${lastLine(complaints)}`);
    });
  });
}

function environment({ config, env, cluster }: ExecPlugin): Record<string, string | undefined> {
  const spec = { interactive: false, ...(config.provideClusterInfo ? { cluster } : {}) };
  const info = JSON.stringify({ apiVersion: config.apiVersion, kind: 'ExecCredential', spec });
  const own = Object.fromEntries((config.env ?? []).map(({ name, value }) => [name, value]));
  return { ...env, ...own, KUBERNETES_EXEC_INFO: info };
}

const hint = ({ installHint }: ExecConfig): string => (installHint ? `. ${installHint.trim()}` : '');

function lastLine(complaints: string): string {
  const last = complaints.trim().split('\n').at(-1)?.trim().slice(0, 300);
  return last ? `: ${last}` : '';
}
