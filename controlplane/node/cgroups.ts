// The part of the machine's cgroups that belongs to one cluster, with a group for each node, under which the kubelet
// puts its pods. Version 1 has a tree for each controller, version 2 one tree in which controllers are switched on.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = '/sys/fs/cgroup';

/** What a kubelet cannot do without. */
export const neededControllers = ['cpu', 'cpuset', 'memory', 'pids'] as const;

/** The version of cgroups that counts pods here. */
export const cgroupVersion = (at: string = root): 1 | 2 => (existsSync(join(at, 'cgroup.controllers')) ? 2 : 1);

/** The controllers that this machine has, by the names of version 2. */
export function controllers(at: string = root): string[] {
  if (cgroupVersion(at) === 2) return wordsIn(join(at, 'cgroup.controllers'));
  return existsSync(at) ? readdirSync(at).flatMap((name) => name.split(',')) : [];
}

/**
 * What keeps controllers from groups below, or nothing. The root of a machine may hold processes and hand controllers
 * on; any other group, such as the one that a container takes for the root, may do only one of the two (version 2).
 */
export function whyNotHandedOn(at: string = root): string | undefined {
  if (cgroupVersion(at) === 1 || !existsSync(join(at, 'cgroup.type'))) return undefined;
  const handedOn = wordsIn(join(at, 'cgroup.subtree_control'));
  const missing = neededControllers.filter((name) => !handedOn.includes(name));
  if (missing.length === 0 || wordsIn(join(at, 'cgroup.procs')).length === 0) return undefined;
  return `the group at ${at} holds processes and so cannot hand on ${missing.join(', ')}; start the container with the machine's cgroups (--cgroupns=host)`;
}

/** The name of the group of one node, as a kubelet is told it. */
export const cgroupOf = (folder: string, node: string): string => `/${basename(folder)}/${node}`;

/** Makes the group of a cluster and those of its nodes, and notes in the folder what has to be undone outside of it. */
export function makeCgroups(folder: string, nodes: readonly string[]): void {
  if (cgroupVersion() === 2) switchOn(folder);
  for (const tree of trees()) {
    for (const group of [basename(folder), ...nodes.map((node) => join(basename(folder), node))]) {
      mkdirSync(join(tree, group), { recursive: true });
      if (cgroupVersion() === 2) enable(join(tree, group));
      else inherit(tree, group);
    }
  }
}

/** Removes what pods left in the group of a node that lost its power; a kubelet would be busy with them for seconds. */
export function emptyCgroup(folder: string, node: string): void {
  for (const tree of trees()) {
    const group = join(tree, basename(folder), node);
    for (const name of foldersIn(group)) removeTree(join(group, name));
  }
}

/** The files in a group cannot be removed and need not be. */
function removeTree(group: string): void {
  for (const name of foldersIn(group)) removeTree(join(group, name));
  rmdirSync(group);
}

const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/** Folders in the temporary file system that holds the trees of version 1 are trees; links are second names. */
const trees = (): string[] =>
  cgroupVersion() === 2
    ? [root]
    : foldersIn(root)
        .map((name) => join(root, name))
        .filter((tree) => existsSync(join(tree, 'cgroup.procs')));

/** A new group of the cpuset controller of version 1 is empty and takes no process. */
function inherit(tree: string, group: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const target = join(tree, group, file);
    if (existsSync(target)) writeFileSync(target, readFileSync(join(tree, file)));
  }
}

function switchOn(folder: string): void {
  const before = wordsIn(join(root, 'cgroup.subtree_control'));
  const added = wordsIn(join(root, 'cgroup.controllers')).filter((name) => !before.includes(name));
  writeFileSync(join(folder, 'nodes', 'controllers'), `${added.join(' ')}\n`);
  enable(root);
}

/** Hands every controller on to the groups below; one that refuses is missed by the kubelet if it is needed. */
function enable(group: string): void {
  for (const name of wordsIn(join(group, 'cgroup.controllers'))) {
    try {
      writeFileSync(join(group, 'cgroup.subtree_control'), `+${name}`);
    } catch (error) {
      if ((neededControllers as readonly string[]).includes(name)) throw error;
    }
  }
}

const wordsIn = (file: string): string[] => readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
