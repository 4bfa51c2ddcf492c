// The operator as a process beside a local control plane: with its own account, in its own session, its number written
// down where the control plane's watcher finds it, so that it ends with whoever started it, however that ends.

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ControlPlane } from '../../controlplane/index.ts';
import { home } from '../install/place.ts';

/** The operator's program. */
const main = join(import.meta.dirname, '../../src/operator/main.ts');

/** An operator that was started here. */
export interface LocalOperator {
  readonly pid: number;
  /** How it ended, once it has. */
  ending(): string | undefined;
  /** All that it logged. */
  log(): string;
  /** Ends it, in order if it listens. */
  stop(): Promise<void>;
}

const prologue = 'echo $$ >"$0" && exec "$@"';
const patience = 15_000;

/** Starts an operator that reaches the control plane as its own ServiceAccount. */
export async function startLocalOperator(
  plane: ControlPlane,
  args: readonly string[] = [],
  name = 'operator',
): Promise<LocalOperator> {
  const kubeconfig = join(plane.folder, `${name}.kubeconfig`);
  writeFileSync(kubeconfig, kubeconfigOf(plane, await plane.token(home.namespace, home.serviceAccount)));
  const pidFile = join(plane.folder, 'pids', name);
  const logFile = join(plane.folder, 'logs', `${name}.log`);
  const log = openSync(logFile, 'a');
  const flags = [`--kubeconfig=${kubeconfig}`, '--health-address=127.0.0.1:0', ...args];
  const child = spawn('sh', ['-c', prologue, pidFile, process.execPath, main, ...flags], {
    detached: true,
    stdio: ['ignore', log, log],
    env: withoutSettings(process.env),
  });
  closeSync(log);
  let how: string | undefined;
  const ended = new Promise<void>((resolve) =>
    child.once('exit', (code, signal) => {
      how = signal ? `was ended by ${signal}` : `ended with code ${code}`;
      rmSync(pidFile, { force: true });
      resolve();
    }),
  );
  return {
    pid: child.pid ?? 0,
    ending: () => how,
    log: () => readFileSync(logFile, 'utf8'),
    async stop() {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), patience);
      await ended;
      clearTimeout(force);
    },
  };
}

/** What somebody has set for an operator of theirs is not meant for this one. */
export const withoutSettings = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BATON_')));

function kubeconfigOf({ url, caPem }: ControlPlane, token: string): string {
  const ca = Buffer.from(caPem).toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'local',
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'operator' } }],
    clusters: [{ name: 'local', cluster: { server: url, 'certificate-authority-data': ca } }],
    users: [{ name: 'operator', user: { token } }],
  });
}
