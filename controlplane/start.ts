// The order in which a control plane comes up: etcd and the API server, then, once the API server is ready with its
// own roles in place, everything that talks to it. Whatever fails on the way takes the rest down with it.

import { asker, must } from './api.ts';
import { ComponentFailure } from './component.ts';
import { etcdAt } from './etcd.ts';
import { writeFiles } from './files.ts';
import { etcdUrlOf, type Layout, urlOf } from './flags.ts';
import { openHome } from './home.ts';
import { type Machine, thisMachine } from './machine.ts';
import type { Options } from './options.ts';
import {
  type ControlPlane,
  controlPlaneOf,
  launch,
  launchApiServer,
  launchEtcd,
  type Parts,
  runKubectl,
} from './plane.ts';
import { startNodes } from './nodes.ts';
import { freePort, portWasTaken } from './ports.ts';
import { type Programs, programs } from './programs.ts';
import { until } from './until.ts';

const attempts = 4;

/** Starts a control plane; builds its programs first if they are missing. Resolves when it is ready to use. */
export async function startControlPlane(options: Options = {}): Promise<ControlPlane> {
  const machine = thisMachine();
  const paths = await programs(undefined, machine);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(options, machine, paths);
    } catch (error) {
      const portLost = error instanceof ComponentFailure && portWasTaken(error.lastLines);
      if (!portLost || attempt === attempts) throw error;
    }
  }
}

async function startOnce(options: Options, machine: Machine, paths: Programs): Promise<ControlPlane> {
  const home = openHome(machine);
  try {
    const layout: Layout = {
      folder: home.folder,
      etcdPort: await freePort(),
      apiPort: await freePort(),
      options,
      ...(home.keep && { records: 'requests' }),
    };
    const identities = writeFiles(home.folder, urlOf(layout), Date.now());
    const ask = asker(urlOf(layout), identities.ca, identities.admin);
    const etcd = etcdAt(etcdUrlOf(layout));
    const parts: Parts = {
      home,
      programs: paths,
      layout,
      identities,
      ask,
      etcd,
      running: new Map(),
      closers: [],
    };
    await launchEtcd(parts);
    await launchApiServer(parts);
    if (options.kinds !== undefined) await defineKinds(parts, options.kinds);
    if (options.controllers !== 'none') await startControllers(parts, standardClass);
    if (options.nodes) await startNodes(parts, options.nodes);
    return controlPlaneOf(parts);
  } catch (error) {
    await home.close();
    throw error;
  }
}

/** Installs the definitions of kinds; resolves when they can be used. */
export async function defineKinds({ programs: { kubectl }, home: { folder } }: Parts, kinds: string): Promise<void> {
  for (const args of [
    ['apply', '-f', kinds],
    ['wait', '--for=condition=Established', '--timeout=30s', '-f', kinds],
  ]) {
    const { code, stderr } = await runKubectl(kubectl, folder, args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  }
}

/** Starts the controllers and the scheduler, with a class for claims that name none; resolves when pods may be made. */
export async function startControllers(parts: Parts, storageClass: object): Promise<void> {
  const manager = launch('kube-controller-manager', parts);
  const scheduler = launch('kube-scheduler', parts);
  await must(parts.ask, { method: 'POST', path: '/apis/storage.k8s.io/v1/storageclasses', body: storageClass });
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  await until(async () => (await parts.ask({ path })).status === 200, {
    what: 'the default ServiceAccount is there',
    milliseconds: 60_000,
    folder: parts.home.folder,
    components: [scheduler, manager],
  });
}

/** Claims without a class get a volume from the controller-manager. */
const standardClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/host-path',
};
