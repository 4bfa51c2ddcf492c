// The control plane under every part of the bench: etcd and the API server alone, so that nothing makes pods of what is
// written, and with limits so high that the clients are what is measured.

import { fileURLToPath } from 'node:url';
import { type ControlPlane, startControlPlane } from '../controlplane/index.ts';
import { systemClock } from '../src/base/index.ts';
import { Client, loadKubeconfig } from '../src/kube/index.ts';
import { Namespace } from '../src/objects/index.ts';

const crds = fileURLToPath(new URL('../tests/kit/trio/deploy/crds', import.meta.url));

/** A control plane with the test kind, and a client for whoever prepares it. */
export interface BenchPlane extends AsyncDisposable {
  plane: ControlPlane;
  client: Client;
}

/** Starts it; disposing ends it and removes its data. */
export async function startBenchPlane(): Promise<BenchPlane> {
  const flags = ['--max-requests-inflight=2000', '--max-mutating-requests-inflight=1000'];
  const plane = await startControlPlane({ controllers: 'none', flags: { 'kube-apiserver': flags } });
  const client = new Client({ cluster: loadKubeconfig(plane.kubeconfigPath), clock: systemClock });
  const stop = async () => {
    await client.close();
    await plane.stop();
  };
  try {
    await install(plane);
  } catch (error) {
    await stop();
    throw error;
  }
  return { plane, client, [Symbol.asyncDispose]: stop };
}

async function install(plane: ControlPlane): Promise<void> {
  for (const args of [
    ['apply', '-f', crds],
    ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'],
  ]) {
    const { stderr, code } = await plane.kubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  }
}

/** Makes a namespace that must not exist yet. */
export const makeNamespace = (client: Client, name: string) =>
  client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { manager: 'bench' });
