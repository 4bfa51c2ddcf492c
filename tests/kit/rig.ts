// One control plane with the test kind installed and the operator's account bound to the generated roles, with or
// without the fault proxy before it. The operator never runs as admin, so a missing right fails a test.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ControlPlane, type Options, startControlPlane } from '../../controlplane/index.ts';
import { type FaultProxy, startFaultProxy } from '../../controlplane/faults/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
import { type Kind, type KubeObject, Namespace } from '../../src/objects/index.ts';
import type { MainOptions } from './main.ts';
import { type RunningOperator, startProcess } from './process.ts';
import { untilReady } from './ready.ts';
import { Trio } from './trio/schema.ts';

/** What is installed, and whose account the operator runs with. */
export interface Installed {
  deploy: string;
  /** Where the operator's account and lease live. */
  home: string;
  account: string;
  controller: MainOptions['controller'];
  /** How its operators are started beside that. */
  options?: Partial<MainOptions>;
  /** And its control plane. */
  flags?: NonNullable<Options['flags']>;
  /** What else there must be in the cluster; answers with how it ends. */
  prepare?: (rig: Rig) => Promise<() => Promise<void>>;
}

/** An autoscaler's own controller looks every 15 s, and so at another moment in each life. */
export const withoutAutoscaling: NonNullable<Options['flags']> = {
  'kube-controller-manager': ['--controllers=*,-horizontal-pod-autoscaler-controller'],
};

export const testKind: Installed = {
  deploy: fileURLToPath(new URL('trio/deploy', import.meta.url)),
  home: 'trio-system',
  account: 'trio',
  controller: 'plain',
};

/** The product's own kinds. */
export const product: Installed = {
  deploy: fileURLToPath(new URL('../../deploy', import.meta.url)),
  home: 'baton-system',
  account: 'baton',
  controller: 'mlmodel',
};

export const { home, account } = testKind;

export interface Rig {
  plane: ControlPlane;
  /** The test itself, as admin, past the proxy. */
  admin: Client;
  proxy: FaultProxy;
  /** Starts an operator behind the proxy. */
  operator(options?: Partial<MainOptions>): Promise<RunningOperator>;
  /** A fresh namespace. */
  namespace(): Promise<string>;
  /** Creates or replaces what is written, as a user with kubectl would. */
  apply<T extends KubeObject>(kind: Kind<T>, object: object): Promise<T>;
  get<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string): Promise<T | undefined>;
  list<T extends KubeObject>(kind: Kind<T>, namespace: string): Promise<T[]>;
  /** Where the operator's world outside the cluster is. */
  outside: string;
  stop(): Promise<void>;
}

type Labels = Record<string, string>;

/** Starts everything but the operator. */
export async function startRig(options: Options = { nodes: 1 }, installed: Installed = testKind): Promise<Rig> {
  const { flags } = installed;
  const kinds = kindsOf(installed);
  return rigOn(await startControlPlane({ ...options, kinds, ...(flags && { flags }) }), installed);
}

/** The folder of the definitions with which a control plane is started. */
export const kindsOf = ({ deploy }: Installed): string => join(deploy, 'crds');

/** Everything but the operator, on a control plane that runs with the kinds; namespaces get these labels. Its end is the plane's end. */
export async function rigOn(plane: ControlPlane, installed: Installed, labels: Labels = {}): Promise<Rig> {
  const admin = new Client({ cluster: loadKubeconfig(plane.kubeconfigPath), clock: systemClock, userAgent: 'test' });
  await install(plane, installed);
  const token = await plane.token(installed.home, installed.account);
  const proxy = await startFaultProxy({ upstream: { url: plane.url, caPem: plane.caPem } });
  const kubeconfig = join(plane.folder, 'operator.kubeconfig');
  writeFileSync(kubeconfig, proxy.kubeconfig(token));
  const outside = mkdtempSync(join(plane.folder, 'outside-'));
  const operators: RunningOperator[] = [];
  let namespaces = 0;
  let end = async () => {};
  const rig: Rig = {
    plane,
    admin,
    proxy,
    outside,
    async operator(own = {}) {
      const operator = await startProcess(plane.folder, {
        kubeconfig,
        outside,
        controller: installed.controller,
        ...installed.options,
        ...own,
      });
      operators.push(operator);
      return operator;
    },
    async namespace() {
      const name = `story-${++namespaces}`;
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
      await admin.create(Namespace, namespace, { manager: 'test' });
      return name;
    },
    apply: (kind, object) =>
      admin.apply(kind, { apiVersion: kind.apiVersion, kind: kind.kind, ...object } as KubeObject, { manager: 'user' }),
    get: (kind, namespace, name) => admin.get(kind, { namespace, name }).catch(() => undefined),
    list: async (kind, namespace) => (await admin.list(kind, namespace, {})).items,
    async stop() {
      await end();
      await Promise.all(operators.filter((operator) => operator.alive()).map((operator) => operator.kill()));
      await admin.close();
      await proxy.stop();
      await plane.stop();
    },
  };
  if (installed.prepare) end = await installed.prepare(rig);
  return rig;
}

/** The account, and the roles from the generated files. */
async function install(plane: ControlPlane, { deploy, home: place, account: name }: Installed): Promise<void> {
  mkdirSync(join(plane.folder, 'pids'), { recursive: true });
  await must(plane, ['create', 'namespace', place]);
  await must(plane, ['-n', place, 'create', 'serviceaccount', name]);
  await must(plane, ['apply', '-f', join(deploy, 'rbac')]);
}

/** kubectl, whose failure is the test's failure. */
export async function must(plane: ControlPlane, args: string[], stdin?: string): Promise<string> {
  const { stdout, stderr, code } = await plane.kubectl(args, stdin === undefined ? {} : { stdin });
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Waits until a Trio is Ready for its current generation. */
export const ready = (rig: Rig, namespace: string, name: string, within?: number): Promise<Trio> =>
  untilReady(() => rig.admin.get(Trio, { namespace, name }), within);
