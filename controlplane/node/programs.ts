// Finds the programs of a real node, and builds the ones that are missing, beside those of the control plane. A test
// that needs only a registry asks for that one and waits for nothing else.

import { join } from 'node:path';
import { type Machine, thisMachine } from '../machine.ts';
import { executable, provide, programsFolder, type Say, sayAside } from '../programs.ts';
import { type AgentName, agentPackages, buildOf, moduleFolder } from '../versions/modules.ts';
import {
  folderOfModule,
  type ModuleName,
  moduleKey,
  moduleOf,
  nodeBuildOf,
  nodePackages,
  type NodeProgramName,
} from '../versions/node.ts';
import { seccomp } from './packages.ts';

/** Any program that a real node needs or that tests on one use. */
export type NodeProgram = NodeProgramName | AgentName;

/** The paths of these programs; builds what is missing, which takes minutes the first time, and tells `say`. */
export async function nodePrograms<N extends NodeProgram>(
  names: readonly N[],
  say: Say = sayAside,
  machine: Machine = thisMachine(),
): Promise<Record<N, string>> {
  const absent = (name: NodeProgram) => names.includes(name as N) && !executable(nodeProgramPath(name, machine));
  const agents = () => keysOf(agentPackages).filter(absent).map(buildOf);
  await provide(agents, { folder: programsFolder(machine), modules: moduleFolder, machine, say });
  for (const module of keysOf(nodePackages)) {
    const all = Object.keys(nodePackages[module]) as NodeProgramName[];
    const library = all.includes('runc') && absent('runc') ? await seccomp(machine, say) : {};
    const wanted = () => all.filter(absent).map((name) => nodeBuildOf(name, library));
    await provide(wanted, { folder: moduleCache(module, machine), modules: folderOfModule(module), machine, say });
  }
  return Object.fromEntries(names.map((name) => [name, nodeProgramPath(name, machine)])) as Record<N, string>;
}

/** Where a program is, once it is built. */
export const nodeProgramPath = (name: NodeProgram, machine: Machine): string =>
  name in agentPackages
    ? join(programsFolder(machine), name)
    : join(moduleCache(moduleOf(name as NodeProgramName), machine), name);

/** The folder of the cache that holds the programs of one module. */
export const moduleCache = (module: ModuleName, machine: Machine): string =>
  join(machine.cache, module, moduleKey(module, machine.platform));

const keysOf = <T extends object>(record: T): (keyof T)[] => Object.keys(record) as (keyof T)[];
