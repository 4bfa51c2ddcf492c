// A running control plane as its users see it, and the pieces it is put together from. Starting is in start.ts; here
// is what can be done to it afterwards.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type Ask, must } from './api.ts';
import type { Credentials } from './certificates.ts';
import { type Component, type ComponentName, logTail, startComponent } from './component.ts';
import type { Etcd } from './etcd.ts';
import type { Identities } from './files.ts';
import { argumentsOf, etcdName, type Layout, urlOf } from './flags.ts';
import type { Home } from './home.ts';
import type { Programs } from './programs.ts';
import { until } from './until.ts';

/** What a finished kubectl said. */
export interface KubectlResult {
  stdout: string;
  stderr: string;
  code: number;
}

/** A real control plane on this machine. */
export interface ControlPlane extends AsyncDisposable {
  /** Like `https://127.0.0.1:20123`. */
  url: string;
  caPem: string;
  /** The client certificate of a member of system:masters. */
  admin: Credentials;
  /** A kubeconfig of admin, for kubectl and whoever else reads one. */
  kubeconfigPath: string;
  /** The path of the kubectl program. */
  kubectlPath: string;
  /** Everything this control plane writes is in here. */
  folder: string;
  /** Runs kubectl as admin; never throws because of what kubectl says. */
  kubectl(args: string[], input?: { stdin?: string }): Promise<KubectlResult>;
  /** One call to the API server as admin, with the whole answer. */
  request: Ask;
  /** A token of a ServiceAccount, valid for a day. */
  token(namespace: string, serviceAccount: string): Promise<string>;
  /** Ends the API server at once (SIGKILL) and starts it again on the same port; resolves when it is ready. */
  restartApiServer(): Promise<void>;
  killApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  /** Stops the API server in mid-air (SIGSTOP): connections stay open and nothing answers. */
  pauseApiServer(): void;
  resumeApiServer(): void;
  /** Makes etcd forget its history. The API server remembers recent changes on its own: restart it too to get 410. */
  compactEtcd(): Promise<void>;
  /** Raises etcd's NOSPACE alarm: every write but a delete is refused until `freeEtcdQuota`. */
  fillEtcdQuota(): Promise<void>;
  freeEtcdQuota(): Promise<void>;
  /** The process of each running component. */
  pids: Partial<Record<ComponentName, number>>;
  /** The last lines of a component's log. */
  logTail(component: string, lines?: number): string;
  /** Ends every process and removes the folder. Does nothing the second time. */
  stop(): Promise<void>;
}

/** Everything that one control plane is made of while it runs. */
export interface Parts {
  home: Home;
  programs: Programs;
  layout: Layout;
  identities: Identities;
  ask: Ask;
  etcd: Etcd;
  running: Map<ComponentName, Component>;
  /** What else has to be ended at a stop. */
  closers: (() => Promise<void>)[];
}

/** Starts one component of the control plane. */
export function launch(name: ComponentName, { home, programs, layout, running }: Parts): Component {
  const { folder } = home;
  const [program = '', ...args] = [...(layout.network?.enter ?? []), programs[name], ...argumentsOf(name, layout)];
  const component = startComponent({ name, program, args, folder });
  running.set(name, component);
  return component;
}

/** Starts etcd and waits until it serves: ours, and not another one that took the port before. */
export async function launchEtcd(parts: Parts): Promise<void> {
  const { etcd, layout, home } = parts;
  const component = launch('etcd', parts);
  await until(async () => (await etcd.members()).includes(etcdName(layout)), {
    what: 'etcd serves',
    milliseconds: 30_000,
    folder: home.folder,
    components: [component],
  });
}

/** Starts the API server and waits until it says that it is ready, its own first objects included. */
export async function launchApiServer(parts: Parts): Promise<void> {
  const server = launch('kube-apiserver', parts);
  await until(async () => (await parts.ask({ path: '/readyz' })).status === 200, {
    what: '/readyz answers ok',
    milliseconds: 60_000,
    folder: parts.home.folder,
    components: [...parts.running.values()].filter(({ name }) => name === 'etcd').concat(server),
  });
}

/** The face of a control plane. */
export function controlPlaneOf(parts: Parts): ControlPlane {
  const { home, programs, layout, identities, ask, etcd, running } = parts;
  const { folder } = home;
  const server = () => running.get('kube-apiserver');
  const killApiServer = async () => {
    await server()?.kill();
    running.delete('kube-apiserver');
  };
  const stop = async () => {
    await Promise.all([home.close(), ...parts.closers.map((close) => close())]);
  };
  return {
    url: urlOf(layout),
    caPem: identities.ca,
    admin: identities.admin,
    kubeconfigPath: join(folder, 'admin.kubeconfig'),
    kubectlPath: programs.kubectl,
    folder,
    kubectl: (args, input = {}) => runKubectl(programs.kubectl, folder, args, input.stdin),
    request: ask,
    token: (namespace, serviceAccount) => requestToken(ask, namespace, serviceAccount),
    killApiServer,
    startApiServer: () => launchApiServer(parts),
    restartApiServer: () => killApiServer().then(() => launchApiServer(parts)),
    pauseApiServer: () => server()?.signal('SIGSTOP'),
    resumeApiServer: () => server()?.signal('SIGCONT'),
    compactEtcd: () => etcd.compact(),
    fillEtcdQuota: () => etcd.outOfSpace('ACTIVATE'),
    freeEtcdQuota: () => etcd.outOfSpace('DEACTIVATE'),
    get pids() {
      return Object.fromEntries([...running.values()].map(({ name, pid }) => [name, pid]));
    },
    logTail: (component, lines) => logTail(folder, component, lines),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Runs kubectl as admin of the control plane in a folder. */
export function runKubectl(
  program: string,
  folder: string,
  args: readonly string[],
  stdin = '',
): Promise<KubectlResult> {
  const own = ['--kubeconfig', join(folder, 'admin.kubeconfig'), '--cache-dir', join(folder, 'kubectl-cache')];
  return new Promise((resolve) => {
    const options = { maxBuffer: 64 * 2 ** 20, timeout: 120_000, killSignal: 'SIGKILL' as const };
    const child = execFile(program, [...own, ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ stdout, stderr: code === -1 ? `${stderr}${error?.message}` : stderr, code });
    });
    child.stdin?.on('error', () => {}).end(stdin);
  });
}

async function requestToken(ask: Ask, namespace: string, serviceAccount: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } };
  const answer = (await must(ask, { method: 'POST', path, body })) as { status: { token: string } };
  return answer.status.token;
}
