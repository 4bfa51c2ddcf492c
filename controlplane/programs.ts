// Finds the programs of the control plane, and builds the ones that are missing. They stay in a cache outside the
// checkout, in a folder named by everything that decides what they are, so equal checkouts share them.

import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockAddress, type Machine, thisMachine } from './machine.ts';
import { compile } from './versions/compile.ts';
import { withLock } from './versions/lock.ts';
import { type ProgramName, programNames, programsKey } from './versions/modules.ts';
import { requireGo } from './versions/toolchain.ts';

/** The path of every program. */
export type Programs = Record<ProgramName, string>;

/** What another project's test setup usually provides; the rest is always ours. */
const fromAssets: readonly ProgramName[] = ['etcd', 'kube-apiserver', 'kubectl'];

/** The folder of the cache that holds the programs of this checkout. */
export const programsFolder = (machine: Machine): string =>
  join(machine.cache, 'controlplane', programsKey(machine.platform));

/** The paths of all programs; builds what is missing, which takes minutes the first time, and tells `say`. */
export async function programs(
  say: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
  machine: Machine = thisMachine(),
): Promise<Programs> {
  const folder = programsFolder(machine);
  if (missing(machine).length > 0) {
    requireGo(machine.environment, machine.platform);
    mkdirSync(folder, { recursive: true });
    await withLock(
      lockAddress(machine, 'build', folder),
      () => say('waiting for another build of the control plane'),
      () => compile(missing(machine), { folder, environment: machine.environment, say }),
    );
  }
  return Object.fromEntries(programNames.map((name) => [name, place(name, machine)])) as Programs;
}

/** The programs that would have to be built. */
export const missing = (machine: Machine): ProgramName[] =>
  programNames.filter((name) => !executable(place(name, machine)));

function place(name: ProgramName, machine: Machine): string {
  const provided = machine.assets && fromAssets.includes(name) ? join(machine.assets, name) : undefined;
  return provided && executable(provided) ? provided : join(programsFolder(machine), name);
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
