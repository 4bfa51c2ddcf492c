// What a cluster of real nodes has on the machine outside of its folder, and whether any of that is still there.

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What to look for. */
export interface Marks {
  folder: string;
  /** The name of the link on the machine. */
  link: string;
  /** The processes of its control plane, its nodes and its pods: when each began, which with its number names it for good. */
  processes: Map<number, string>;
}

/** Reads the marks of a cluster that runs or starts. */
export function marksOf(folder: string): Marks {
  const [file = ''] = globSync(join(folder, 'nodes', 'link'));
  const ours = allProcesses().filter(
    (pid) => commandLine(pid).includes(folder) || groups(pid).includes(basename(folder)),
  );
  return { folder, link: file && textOf(file).trim(), processes: new Map(ours.map((pid) => [pid, startOf(pid)])) };
}

/** Everything that is left of a cluster, one line each. */
export function left({ folder, link, processes }: Marks): string[] {
  const living = allProcesses().filter(
    (pid) => commandLine(pid).includes(folder) || (processes.has(pid) && processes.get(pid) === startOf(pid)),
  );
  return [
    ...living.map((pid) => `process ${pid}: ${commandLine(pid)}`),
    ...(existsSync(folder) ? [`folder ${folder}`] : []),
    ...readdirSync('/sys/class/net')
      .filter((name) => name === link)
      .map((name) => `link ${name}`),
    ...mounts()
      .filter((line) => line.includes(folder))
      .map((line) => `mount ${line}`),
    ...globSync(`/sys/fs/cgroup/{,*/}${basename(folder)}`).map((path) => `cgroup ${path}`),
  ];
}

/** Settings of the whole machine that the programs of a node would like to change. */
export const machineWide = (): Record<string, string> =>
  Object.fromEntries(
    [
      '/proc/sys/vm/overcommit_memory',
      '/proc/sys/vm/panic_on_oom',
      '/proc/sys/kernel/panic',
      '/proc/sys/kernel/panic_on_oops',
      '/proc/sys/kernel/keys/root_maxkeys',
      '/proc/sys/kernel/keys/root_maxbytes',
      '/proc/sys/net/ipv4/ip_forward',
      '/proc/sys/net/netfilter/nf_conntrack_max',
    ].map((file) => [file, textOf(file)]),
  );

const mounts = (): string[] => textOf('/proc/self/mountinfo').split('\n');

const allProcesses = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const commandLine = (pid: number): string => textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');

const groups = (pid: number): string => textOf(`/proc/${pid}/cgroup`);

/** Position 22, counted after the name in brackets, which may hold anything. */
function startOf(pid: number): string {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 'gone';
}

/** A process that ended a moment ago has no text any more. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
