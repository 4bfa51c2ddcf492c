// The network in which the control plane of real nodes lives: a namespace that a sleeping process holds, with a bridge
// for the nodes and one link to the machine. Nothing of the cluster listens in the machine's own network.

import { randomBytes } from 'node:crypto';
import { readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Component, startComponent } from '../component.ts';
import type { Network } from '../flags.ts';
import { until } from '../until.ts';
import type { Place } from './place.ts';
import { run } from './run.ts';

/** The namespace of the control plane. */
export interface Hub {
  network: Network;
  /** Runs lines of `ip` in it. */
  ip(lines: string[]): Promise<void>;
}

/** What the hub is made from. */
export interface Site {
  /** The folder of the control plane. */
  folder: string;
  place: Place;
  /** The path of the program that writes filter rules. */
  nft: string;
  /** The port that is not for nodes and pods. */
  etcdPort: number;
}

/** Makes the namespace, its bridge and the link to the machine. */
export async function openHub({ folder, place, nft, etcdPort }: Site): Promise<Hub> {
  const { addresses, prefix } = place;
  const link = `${prefix}${randomBytes(3).toString('hex')}`;
  writeFileSync(join(folder, 'nodes', 'link'), `${link}\n`);
  const holder = startComponent({ name: 'hub', program: 'unshare', args: ['--net', ...waiting(folder)], folder });
  await until(() => Promise.resolve(hasOwnNetwork(holder.pid)), waitFor(holder, folder));
  const enter = ['nsenter', `--net=/proc/${holder.pid}/ns/net`, '--'];
  const ip = (lines: string[]) => ipLines(lines, enter);
  await ipLines([`link add ${link} type veth peer name up0 netns ${holder.pid}`]);
  await ip([
    'link set lo up',
    `addr add ${addresses.outside}/30 dev up0`,
    'link set up0 up',
    'link add br0 type bridge',
    `addr add ${addresses.inside}/24 dev br0`,
    'link set br0 up',
  ]);
  await ipLines([
    `addr add ${addresses.machine}/30 dev ${link}`,
    `link set ${link} up`,
    `route add ${addresses.block} via ${addresses.outside}`,
  ]);
  await run([...enter, 'sh', '-c', forward]);
  await run([...enter, nft, '-f', '-'], { input: keepOut(etcdPort) });
  return { network: { outside: addresses.outside, inside: addresses.inside, enter }, ip };
}

/** Lets packets pass from one link to another; a setting of the namespace. */
export const forward = 'echo 1 >/proc/sys/net/ipv4/ip_forward';

/** Whether a process has left the network of the machine. */
export const hasOwnNetwork = (pid: number): boolean =>
  readlinkSync(`/proc/${pid}/ns/net`) !== readlinkSync('/proc/self/ns/net');

/** Runs lines of `ip`, all or the first that fails, on this machine or behind a command that enters a namespace. */
export async function ipLines(lines: string[], enter: string[] = []): Promise<void> {
  await run([...enter, 'ip', '-batch', '-'], { input: `${lines.join('\n')}\n` });
}

/** A process without children that waits for ever and names the folder, by which it is known as ours. */
function waiting(folder: string): string[] {
  const file = join(folder, 'nodes', 'hub');
  writeFileSync(file, '');
  return ['tail', '-f', file];
}

const waitFor = (holder: Component, folder: string) => ({
  what: 'a network namespace is there',
  milliseconds: 10_000,
  folder,
  components: [holder],
});

/** etcd asks nobody who he is. */
const keepOut = (etcdPort: number): string => `table inet hub {
  chain input {
    type filter hook input priority 0;
    iifname "br0" tcp dport ${etcdPort} reject with tcp reset
  }
}
`;
