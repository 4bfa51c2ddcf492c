// Finds the programs of the control plane, and builds the ones that are missing. They stay in a cache outside the
// checkout, in a folder named by everything that decides what they are, so equal checkouts share them.

import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockAddress, type Machine, thisMachine } from './machine.ts';
import { compile } from './versions/compile.ts';
import { withLock } from './versions/lock.ts';
import { buildOf, moduleFolder, type ProgramName, programNames, programsKey } from './versions/modules.ts';
import { type Build, requireGo } from './versions/toolchain.ts';

/** The path of every program. */
export type Programs = Record<ProgramName, string>;

/** What another project's test setup usually provides; the rest is always ours. */
const fromAssets: readonly ProgramName[] = ['etcd', 'kube-apiserver', 'kubectl'];

/** The folder of the cache that holds the programs of this checkout. */
export const programsFolder = (machine: Machine): string =>
  join(machine.cache, 'controlplane', programsKey(machine.platform));

/** Tells how a build goes, line by line. */
export type Say = (line: string) => void;

/** Says it where it is seen and mixed with no output. */
export const sayAside: Say = (line) => void process.stderr.write(`${line}\n`);

/** The paths of all programs; builds what is missing, which takes minutes the first time, and tells `say`. */
export async function programs(say: Say = sayAside, machine: Machine = thisMachine()): Promise<Programs> {
  const wanted = () => missing(machine).map(buildOf);
  await provide(wanted, { folder: programsFolder(machine), modules: moduleFolder, machine, say });
  return Object.fromEntries(programNames.map((name) => [name, place(name, machine)])) as Programs;
}

/** Where programs go, what they are built from, and who is told. */
export interface Provision {
  folder: string;
  modules: string;
  machine: Machine;
  say: Say;
}

/** Builds what is wanted; asks again for what that is once no other process builds into the same folder. */
export async function provide(wanted: () => Build[], { folder, modules, machine, say }: Provision): Promise<void> {
  if (wanted().length === 0) return;
  requireGo(machine.environment, machine.platform, modules);
  mkdirSync(folder, { recursive: true });
  await withLock(
    lockAddress(machine, 'build', folder),
    () => say('waiting for another build of the same programs'),
    () => compile(wanted(), { folder, environment: machine.environment, say }),
  );
}

/** The programs that would have to be built. */
export const missing = (machine: Machine): ProgramName[] =>
  programNames.filter((name) => !executable(place(name, machine)));

function place(name: ProgramName, machine: Machine): string {
  const provided = machine.assets && fromAssets.includes(name) ? join(machine.assets, name) : undefined;
  return provided && executable(provided) ? provided : join(programsFolder(machine), name);
}

/** Whether there is a program at this path. */
export function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
