// The one folder in which a control plane keeps everything, and the watcher that removes it. The watcher is a shell
// at the other end of a pipe: it notices the end of this process in whatever way it comes, SIGKILL included, and
// needs no feature of the operating system that only some machines have (a parent-death signal is Linux's own and hangs on a thread, not on a process).

import { type ChildProcess, spawn } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';
import { alive } from './processes.ts';

/** A running control plane's folder. */
export interface Home {
  folder: string;
  /** Where its logs go in the end, if they are kept. */
  keep: string | undefined;
  /** Kills every process that was started here and removes the folder. */
  close(): Promise<void>;
}

const prefix = 'baton-controlplane-';
const script = join(import.meta.dirname, 'watch.sh');

/** A new folder with its watcher; what a crash left behind in the same place is removed on the way. */
export function openHome(machine: Machine): Home {
  for (const clearing of abandoned(machine)) clearing.unref();
  const folder = mkdtempSync(join(machine.temporary, `${prefix}${process.pid}-`));
  for (const name of ['pids', 'logs', 'etcd', 'pki']) mkdirSync(join(folder, name), { mode: 0o700 });
  const watcher = watch(folder, 'pipe', machine.keep);
  watcher.unref();
  const gone = new Promise<void>((resolve) => watcher.once('exit', () => resolve()));
  return {
    folder,
    keep: machine.keep,
    async close() {
      watcher.ref();
      watcher.stdin?.end();
      await gone;
    },
  };
}

/** Resolves when nothing is left of control planes whose owner is no more. */
export async function clearAbandoned(machine: Machine): Promise<void> {
  await Promise.all(abandoned(machine).map((clearing) => new Promise((resolve) => clearing.once('exit', resolve))));
}

/** Clears the folders whose owner is no more. Their own watchers did so already, unless they were killed as well. */
const abandoned = (machine: Machine): ChildProcess[] =>
  homes(machine)
    .filter(({ owner }) => !alive(owner))
    .map(({ folder }) => watch(folder, 'ignore'));

type Place = Pick<Machine, 'temporary' | 'user'>;

/** The folders of all control planes of this user. */
export const homes = (machine: Place): OwnedFolder[] => ownedFolders(prefix, machine);

/** A temporary folder, and the process that it belongs to. */
export interface OwnedFolder {
  folder: string;
  owner: number;
}

/** This user's folders that are called so, up to a dash, with the number of a process behind it. Anybody can make a folder of such a name. */
export function ownedFolders(called: string, { temporary, user }: Place): OwnedFolder[] {
  return readdirSync(temporary).flatMap((name) => {
    const owner = /^-(\d+)-/.exec(name.startsWith(called) ? name.slice(called.length - 1) : '')?.[1];
    const folder = join(temporary, name);
    return owner !== undefined && isFolderOf(user, folder) ? [{ folder, owner: Number(owner) }] : [];
  });
}

/** A link is no folder, and neither is one that was removed a moment ago. */
function isFolderOf(user: number, path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === user;
}

/** In a session of its own, so that neither a terminal nor a process group takes it along with the owner. */
const watch = (folder: string, input: 'pipe' | 'ignore', keep = ''): ChildProcess =>
  spawn('sh', [script, folder, keep], { detached: true, stdio: [input, 'ignore', 'ignore'] });
