// Starts a control plane with real nodes in namespaces of their own on this machine. What does not wait for the API
// server (containerd, the registry) starts beside it; whatever fails on the way takes the rest down with it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asker } from '../api.ts';
import { etcdAt } from '../etcd.ts';
import { writeFiles } from '../files.ts';
import { etcdUrlOf, type Layout, urlOf } from '../flags.ts';
import { clearAbandoned, type Home, openHome } from '../home.ts';
import { type Machine, thisMachine } from '../machine.ts';
import { readyNodes } from '../nodes.ts';
import type { Options } from '../options.ts';
import { type ControlPlane, controlPlaneOf, launchApiServer, launchEtcd, type Parts } from '../plane.ts';
import { programs, type Say, sayAside } from '../programs.ts';
import { defineKinds, startControllers } from '../start.ts';
import { until } from '../until.ts';
import { addressesIn, places } from './addresses.ts';
import { makeCgroups } from './cgroups.ts';
import { disksOf } from './disks.ts';
import { type Hub, openHub } from './hub.ts';
import { writeImage } from './image.ts';
import { nameOf, plantNode, type RealNode, type Seedling, type Soil } from './node.ts';
import { localClass, makeObjects } from './objects.ts';
import { nftFolder } from './packages.ts';
import { type Place, takePlace } from './place.ts';
import { keepPodLogs } from './podlogs.ts';
import { nodePrograms } from './programs.ts';
import { type S3, startDns, startRegistry, startS3 } from './services.ts';
import { pauseImage } from './settings.ts';
import { whyNot } from './support.ts';
import { serveClaims } from './volumes.ts';

/** How a cluster of real nodes is started. */
export interface RealOptions {
  nodes?: 1 | 2;
  /** An S3 server beside it. */
  s3?: 'yes';
  /** More flags for the control plane. */
  flags?: NonNullable<Options['flags']>;
  /** As for a control plane. */
  kinds?: NonNullable<Options['kinds']>;
}

/** A control plane with real nodes. */
export interface RealCluster extends ControlPlane {
  nodes: RealNode[];
  /** Address and port of a registry that this process, nodes and pods reach alike, by plain HTTP. */
  registry: string;
  /** The S3 server, if one was asked for. */
  s3: S3 | undefined;
  /** The address of this machine in the cluster: a server of the test that listens on it is reached by pods. */
  machineAddress: string;
  /** Gives names to addresses for pods, in place of what was given before; known after half a second. */
  giveNames(addresses: Record<string, string | readonly string[]>): void;
}

const [etcdPort, apiPort] = [2379, 6443];

/** Starts one, building its programs first if they are missing. Resolves when every node is ready. */
export async function startRealCluster(options: RealOptions = {}, say: Say = sayAside): Promise<RealCluster> {
  const machine = thisMachine();
  const tools = await prepareReal(say, options, machine);
  await clearAbandoned(machine);
  const place = await takePlace();
  const home = homeOf(machine, place);
  try {
    return await startIn(home, place, { tools, options });
  } catch (error) {
    await home.close();
    throw error;
  }
}

/** What a cluster makes on the machine, and removes when it ends or its owner does, for people to read beforehand. */
export const footprint: readonly string[] = [
  'Real nodes make on this machine, and remove again:',
  '  processes (control plane, containerd, kubelet, kube-proxy, pods) in namespaces of their own',
  `  a link baton*, an address and a route for a free block between ${addressesIn(0).block} and ${addressesIn(places - 1).block}`,
  '  cgroups and a folder in the temporary folder, both named baton-controlplane-*',
];

type Tools = Awaited<ReturnType<typeof prepareReal>>;

const needed = [
  ...(['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc', 'ptp', 'host-local', 'portmap'] as const),
  ...(['coredns', 'pause', 'registry', 'kubelet', 'kube-proxy'] as const),
];

/** Finds everything that a cluster is started from, and builds what is missing; says why it cannot be started here. */
export async function prepareReal(say: Say, { s3 }: RealOptions = {}, machine: Machine = thisMachine()) {
  const reason = await whyNot(machine, say);
  if (reason) throw new Error(`real nodes cannot run here: ${reason}`);
  return {
    plane: await programs(say, machine),
    node: await nodePrograms([...needed, ...(s3 ? (['versitygw'] as const) : [])], say, machine),
    nft: await nftFolder(machine, say),
  };
}

/** The place is free again when everything is gone. */
function homeOf(machine: Machine, place: Place): Home {
  const home = openHome(machine);
  mkdirSync(join(home.folder, 'nodes'));
  return { ...home, close: () => home.close().finally(() => place.release()) };
}

interface Start {
  tools: Tools;
  options: RealOptions;
}

async function startIn(home: Home, place: Place, { tools, options }: Start): Promise<RealCluster> {
  const { addresses } = place;
  const count = options.nodes ?? 1;
  const names = Array.from({ length: count }, (_, index) => nameOf(index + 1));
  makeCgroups(home.folder, names);
  const hub = await openHub({ folder: home.folder, place, nft: join(tools.nft, 'nft'), etcdPort });
  const parts = partsOf(home, hub, { tools, options });
  const registry = await startRegistry({ parts, network: hub.network, program: tools.node.registry });
  const soil = await soilOf({ parts, hub, place, tools, registry, count });
  const [seedlings, , s3] = await Promise.all([
    Promise.all(names.map((_, index) => plantNode(index + 1, soil))),
    startPlane(parts, addresses.inside, options.kinds),
    options.s3 && startS3({ parts, network: hub.network, program: tools.node.versitygw }),
  ]);
  const server = `https://${addresses.inside}:${apiPort}`;
  await Promise.all([
    growAll(seedlings, parts),
    startDns(server, { parts, network: hub.network, program: tools.node.coredns }),
    startControllers(parts, localClass),
  ]);
  const nodes = seedlings.map(({ node }) => node);
  parts.closers.push(serveClaims(parts.ask, disksOf(home.folder, nodes)));
  if (home.keep) parts.closers.push(keepPodLogs(join(home.folder, 'nodes'), join(home.folder, 'logs', 'pods')));
  return Object.assign(controlPlaneOf(parts), {
    nodes,
    registry,
    s3,
    machineAddress: addresses.machine,
    giveNames: (given: Parameters<RealCluster['giveNames']>[0]) => giveNames(home.folder, given),
  });
}

function partsOf(home: Home, { network }: Hub, { tools, options }: Start): Parts {
  const { folder } = home;
  const flags = { 'kube-controller-manager': patience, ...options.flags };
  const layout: Layout = {
    folder,
    etcdPort,
    apiPort,
    options: { flags },
    network,
    ...(home.keep && { records: 'requests' }),
  };
  const identities = writeFiles(folder, urlOf(layout), Date.now(), [network.outside, network.inside]);
  const ask = asker(urlOf(layout), identities.ca, identities.admin);
  const etcd = etcdAt(etcdUrlOf(layout));
  return { home, programs: tools.plane, layout, identities, ask, etcd, running: new Map(), closers: [] };
}

/** A node that is silent for so long is not ready; a busy machine may be late by some seconds. */
const patience = ['--node-monitor-period=2s', '--node-monitor-grace-period=20s'];

interface SoilFrom {
  parts: Parts;
  hub: Hub;
  place: Place;
  tools: Tools;
  registry: string;
  count: number;
}

async function soilOf({ parts, hub, place, tools, registry, count }: SoilFrom): Promise<Soil> {
  const pause = join(parts.home.folder, 'nodes', 'pause.tar');
  const files = { pause: { from: tools.node.pause } };
  await writeImage(pause, { name: pauseImage, entrypoint: ['/pause'], files });
  const system = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const path = [dirname(tools.node.containerd), tools.nft, system].join(':');
  return { parts, hub, addresses: place.addresses, programs: tools.node, path, registry, pause, count };
}

async function startPlane(parts: Parts, inside: string, kinds: string | undefined): Promise<void> {
  await launchEtcd(parts);
  await launchApiServer(parts);
  if (kinds !== undefined) await defineKinds(parts, kinds);
  await makeObjects(parts.ask, inside);
}

const growAll = (seedlings: Seedling[], { ask, home }: Parts): Promise<void> =>
  until(async () => (await readyNodes(ask)) >= seedlings.length, {
    what: `${seedlings.length} real nodes are ready and may take pods`,
    milliseconds: 90_000,
    folder: home.folder,
    components: seedlings.flatMap(({ grow }) => grow()),
  });

function giveNames(folder: string, given: Record<string, string | readonly string[]>): void {
  const lines = Object.entries(given).flatMap(([name, addresses]) =>
    [addresses].flat().map((address) => `${address} ${name}\n`),
  );
  writeFileSync(join(folder, 'nodes', 'dns', 'hosts'), lines.join(''));
}
