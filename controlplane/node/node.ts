// One real node: containerd, the kubelet and kube-proxy in namespaces of their own, and what can be done to it.

import { dirname, join } from 'node:path';
import { type Component, startComponent } from '../component.ts';
import type { Parts } from '../plane.ts';
import { until } from '../until.ts';
import type { Addresses } from './addresses.ts';
import { emptyCgroup } from './cgroups.ts';
import type { Hub } from './hub.ts';
import { childOf, openShell, type Shell } from './namespaces.ts';
import { run } from './run.ts';
import { type NodeSite, writeSettings } from './settings.ts';

/** The programs of a node that keep running. */
export type Agent = 'containerd' | 'kubelet' | 'kube-proxy';

/** A real node as its users see it. */
export interface RealNode {
  name: string;
  /** Its address; NodePorts answer here. */
  address: string;
  /** Runs a program of the machine inside the node and gives its output. */
  run(command: readonly string[], milliseconds?: number): Promise<string>;
  /** Sends a signal to one of its agents. */
  signal(agent: Agent, signal: NodeJS.Signals): void;
  /** Ends everything in the node at once, as if the machine had lost its power. */
  kill(): Promise<void>;
  /** Starts it again with the disk that it had. */
  start(): Promise<void>;
}

/** What the nodes of one cluster share. */
export interface Soil {
  parts: Parts;
  hub: Hub;
  addresses: Addresses;
  programs: Record<Agent | 'ctr' | 'pause' | 'runc', string>;
  /** The folders in which agents find what they call. */
  path: string;
  /** Address and port of the registry. */
  registry: string;
  /** The image that holds pods together, as a file. */
  pause: string;
  /** How many nodes there are. */
  count: number;
}

/** A node on its way, with all that runs before the API server is there. */
export interface Seedling {
  node: RealNode;
  /** Starts the rest; gives what to watch while the node becomes ready. */
  grow: () => Component[];
}

/** Prepares a node; several can be on their way at once. */
export async function plantNode(number: number, soil: Soil): Promise<Seedling> {
  const site = siteOf(number, soil);
  writeSettings(site);
  let agents = await startRuntime(site, soil);
  const node: RealNode = {
    name: site.name,
    address: soil.addresses.node(number),
    run: (command, milliseconds = 30_000) => run([...agents.shell.enter, ...command], { milliseconds }),
    signal: (agent, signal) => signalAgent(agents.running.get(agent), signal),
    async kill() {
      await agents.shell.kill();
      await Promise.all([...agents.running.values()].map((component) => component.kill()));
    },
    async start() {
      emptyCgroup(site.home, site.name);
      agents = await startRuntime(site, soil);
      agents.grow();
    },
  };
  return { node, grow: () => agents.grow() };
}

/** The agent is the child of a process that stays outside of the node, and that stops and has to go on with it. */
function signalAgent(component: Component | undefined, signal: NodeJS.Signals): void {
  if (!component) throw new Error('this agent does not run');
  process.kill(childOf(component.pid), signal);
  if (signal === 'SIGCONT') component.signal(signal);
}

/** The name of a node. */
export const nameOf = (number: number): string => `node-${number}`;

function siteOf(number: number, { parts, addresses, registry, programs, count }: Soil): NodeSite {
  const name = nameOf(number);
  const home = parts.home.folder;
  return {
    home,
    folder: join(home, 'nodes', name),
    name,
    number,
    others: Array.from({ length: count }, (_, index) => index + 1).filter((other) => other !== number),
    addresses,
    identities: parts.identities,
    registry,
    server: `https://${addresses.inside}:${parts.layout.apiPort}`,
    programs: dirname(programs.containerd),
    runc: programs.runc,
  };
}

interface Agents {
  shell: Shell;
  running: Map<Agent, Component>;
  grow: () => Component[];
}

/** The namespaces and containerd, with the one image that every pod needs. */
async function startRuntime(site: NodeSite, soil: Soil): Promise<Agents> {
  const { home, folder } = site;
  const shell = await openShell(site, soil.hub, soil.programs.pause);
  const running = new Map<Agent, Component>();
  const start = (agent: Agent, args: string[]) => {
    const [program = '', ...enter] = shell.enter;
    const environment = { PATH: soil.path, TMPDIR: join(folder, 'tmp') };
    const whole = [...enter, soil.programs[agent], ...args];
    const component = startComponent({
      name: `${site.name}-${agent}`,
      program,
      args: whole,
      folder: home,
      environment,
    });
    running.set(agent, component);
    return component;
  };
  const containerd = start('containerd', ['--config', join(folder, 'containerd.toml')]);
  const ctr = [...shell.enter, soil.programs.ctr, '--namespace', 'k8s.io'];
  await until(() => run([...ctr, 'version']).then(() => true), {
    what: 'containerd answers',
    milliseconds: 30_000,
    folder: home,
    components: [containerd],
  });
  await run([...ctr, 'images', 'import', '--local', soil.pause]);
  const grow = () => [containerd, start('kube-proxy', proxyFlags(site)), start('kubelet', kubeletFlags(site))];
  return { shell, running, grow };
}

const kubeletFlags = ({ folder, name, number, addresses }: NodeSite): string[] => [
  `--config=${join(folder, 'kubelet.yaml')}`,
  `--kubeconfig=${join(folder, 'kubelet.kubeconfig')}`,
  '--root-dir=/var/lib/kubelet',
  '--cert-dir=/var/lib/kubelet/pki',
  `--hostname-override=${name}`,
  `--node-ip=${addresses.node(number)}`,
];

/** The limits of connection tracking are the machine's: they stay as they are. */
const proxyFlags = ({ folder, name, addresses }: NodeSite): string[] => [
  `--kubeconfig=${join(folder, 'kube-proxy.kubeconfig')}`,
  '--proxy-mode=nftables',
  `--hostname-override=${name}`,
  `--cluster-cidr=${addresses.block}`,
  '--conntrack-max-per-core=0',
  '--conntrack-tcp-timeout-established=0',
  '--conntrack-tcp-timeout-close-wait=0',
  '--healthz-bind-address=',
  '--metrics-bind-address=127.0.0.1:10249',
];
