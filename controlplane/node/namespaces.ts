// The namespaces of one node: a first process in them whose end is the end of everything in the node, and a link from
// there to the hub.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startComponent } from '../component.ts';
import { until } from '../until.ts';
import { forward, type Hub, hasOwnNetwork, ipLines } from './hub.ts';
import { run } from './run.ts';
import type { NodeSite } from './settings.ts';

/** A node without agents. */
export interface Shell {
  /** Ends everything in it; resolves when all of that is gone. */
  kill(): Promise<void>;
  /** Begins every command line that is to run in the node. */
  enter: string[];
}

const script = join(import.meta.dirname, 'init.sh');
const kinds = ['--mount', '--pid', '--net', '--uts', '--ipc'];
const life = ['--fork', '--kill-child=KILL', '--propagation', 'slave', '--mount-proc'];

/** Begins a command line that runs in new namespaces, which end with it. */
export const inNamespaces: readonly string[] = ['unshare', ...kinds, ...life];

/** Makes the namespaces and links them; `pause` is the program that stays as the first process. */
export async function openShell(site: NodeSite, hub: Hub, pause: string): Promise<Shell> {
  const { name, folder, home } = site;
  const mounted = join(folder, 'mounted');
  rmSync(mounted, { force: true });
  const [program, ...args] = [...inNamespaces, 'sh', script, folder, pause];
  const owner = startComponent({ name, program, args, folder: home });
  await until(() => Promise.resolve(existsSync(mounted)), {
    what: 'its namespaces are there',
    milliseconds: 20_000,
    folder: home,
    components: [owner],
  });
  const init = childOf(owner.pid);
  writeFileSync(join(folder, 'init'), `${init} ${statOf(init)[startTime]} ${owner.pid}\n`);
  // Killed is the first process from now on, so that its owner sees it end and follows.
  writeFileSync(join(home, 'pids', name), `${init}\n`);
  const kill = () => {
    process.kill(init, 'SIGKILL');
    return owner.gone();
  };
  const enter = ['nsenter', `--target=${init}`, ...kinds, '--'];
  await link(site, hub, { init, enter });
  return { kill, enter };
}

/** The number, on this machine, of the one child of a process. */
export function childOf(pid: number): number {
  const child = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((name) => Number(statOf(Number(name))[parent]) === pid);
  if (child === undefined || !hasOwnNetwork(Number(child))) throw new Error(`process ${pid} has no child in a node`);
  return Number(child);
}

/** Without a default route beyond the hub a node has no way out of the cluster. */
async function link(site: NodeSite, hub: Hub, { init, enter }: { init: number; enter: string[] }): Promise<void> {
  const { number, addresses, others } = site;
  const address = addresses.node(number);
  // One that a killed node had goes by itself, but sometimes only seconds later.
  await hub.ip([`link delete v${number}`]).catch(() => {});
  await hub.ip([
    `link add v${number} type veth peer name eth0 netns ${init}`,
    `link set v${number} master br0 up`,
    `route replace ${addresses.pods(number)} via ${address}`,
  ]);
  const lines = [
    'link set lo up',
    `addr add ${address}/24 dev eth0`,
    'link set eth0 up',
    `route add default via ${addresses.inside}`,
    ...others.map((other) => `route add ${addresses.pods(other)} via ${addresses.node(other)}`),
  ];
  await ipLines(lines, enter);
  await run([...enter, 'sh', '-c', forward]);
}

/** Positions of what is said of a process after its name. */
const [parent, startTime] = [1, 19];

/** The name is in brackets and may itself hold spaces and brackets. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
