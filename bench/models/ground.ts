// A control plane for one turn: fresh, so that nobody finds what another one left, with simulated nodes, both kinds and an
// account for each side. Everything that could hold up an operator but is none of its doing has room enough.

import {
  closeSync,
  cpSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from '../../controlplane/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { Client, loadKubeconfig } from '../../src/kube/index.ts';
import { homes, type Line, policy } from './audit.ts';

const root = join(import.meta.dirname, '..', '..');

/** Where the models are. */
export const namespace = 'models';

export interface Ground extends AsyncDisposable {
  plane: ControlPlane;
  /** Whoever asks for models. */
  client: Client;
  /** A kubeconfig with the account of a side. */
  kubeconfig(side: keyof typeof homes): Promise<string>;
  /** What was written down since the last look. */
  lines(): Line[];
}

/** Servers and downloads of so many models must fit; a simulated node takes a thousand pods and 64 processors. */
const nodesFor = (models: number): number => Math.ceil(models / 250);

const limits = ['--kube-api-qps=2000', '--kube-api-burst=4000'];

/** More of the controller-manager's own work at once: what is measured should wait for nobody. */
const wide = ['deployment', 'replicaset', 'job', 'endpoint', 'service-endpoint', 'gc'].map(
  (name) => `--concurrent-${name}-syncs=20`,
);

/**
 * Starts it. The kinds are there before the garbage collector, which looks for new ones only every 30 s: of a kind that it does
 * not know it asks for the parent of every child again and again, for which no operator is to blame.
 */
export async function startGround(models: number): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  writeFileSync(join(folder, 'policy.json'), JSON.stringify(policy));
  const log = join(folder, 'requests.jsonl');
  const apiServer = [
    '--max-requests-inflight=2000',
    '--max-mutating-requests-inflight=1000',
    '--service-cluster-ip-range=10.96.0.0/16',
    `--audit-policy-file=${join(folder, 'policy.json')}`,
    `--audit-log-path=${log}`,
    '--audit-log-maxsize=4096',
  ];
  const manager = [...limits, ...wide];
  const flags = { 'kube-apiserver': apiServer, 'kube-controller-manager': manager, 'kube-scheduler': limits };
  const plane = await startControlPlane({ nodes: nodesFor(models), flags, kinds: bothKinds(folder) });
  const client = new Client({ cluster: loadKubeconfig(plane.kubeconfigPath), clock: systemClock, userAgent: 'bench' });
  const stop = async () => {
    await client.close();
    await plane.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await install(plane);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    plane,
    client,
    kubeconfig: (side) => kubeconfigFor(plane, side),
    lines: linesOf(log),
    [Symbol.asyncDispose]: stop,
  };
}

/** The kinds of both sides in one folder. */
function bothKinds(folder: string): string {
  const place = join(folder, 'kinds');
  cpSync(join(root, 'deploy', 'crds'), place, { recursive: true });
  cpSync(join(root, 'bench', 'peers', 'models', 'crd.yaml'), join(place, 'peer.yaml'));
  return place;
}

async function install(plane: ControlPlane): Promise<void> {
  mkdirSync(join(plane.folder, 'pids'), { recursive: true });
  const { baton, peer } = homes;
  const deploy = (part: string) => join(root, 'deploy', part);
  for (const args of [
    ...[namespace, baton, peer].map((name) => ['create', 'namespace', name]),
    ['-n', baton, 'create', 'serviceaccount', 'baton'],
    ['-n', peer, 'create', 'serviceaccount', 'peer'],
    ['create', 'clusterrolebinding', 'peer', '--clusterrole=cluster-admin', `--serviceaccount=${peer}:peer`],
    ...['rbac', 'policy'].map((part) => ['apply', '-f', deploy(part)]),
  ]) {
    const { stderr, code } = await plane.kubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  }
}

async function kubeconfigFor(plane: ControlPlane, side: keyof typeof homes): Promise<string> {
  const path = join(plane.folder, `${side}.kubeconfig`);
  const cluster = { server: plane.url, 'certificate-authority-data': Buffer.from(plane.caPem).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster }],
    users: [{ name: side, user: { token: await plane.token(homes[side], side) } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: side } }],
    'current-context': 'bench',
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Reads a growing file of JSON lines from where it ended before. */
function linesOf(path: string): () => Line[] {
  let at = 0;
  return () => {
    const text = tailOf(path, at);
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    at += Buffer.byteLength(whole);
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  };
}

function tailOf(path: string, from: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
    readSync(file, bytes, 0, bytes.length, from);
    return bytes.toString('utf8');
  } finally {
    closeSync(file);
  }
}
