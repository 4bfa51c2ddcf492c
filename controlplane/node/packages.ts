// What a node needs and Go cannot build: the seccomp library that runc is linked with, and `nft`, by which kube-proxy
// writes its rules. A machine that has them uses its own; on Debian and what descends from it their packages are
// unpacked into the cache without being installed; anywhere else the way out is a sentence that names them.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { lockAddress, type Machine } from '../machine.ts';
import { executable, type Say } from '../programs.ts';
import { withLock } from '../versions/lock.ts';
import { run, type Surroundings } from './run.ts';

/** The environment in which the C compiler finds the seccomp library. */
export async function seccomp(machine: Machine, say: Say): Promise<NodeJS.ProcessEnv> {
  for (const tool of ['gcc', 'pkg-config']) {
    if (!onPath(tool, machine)) throw new Error(`${tool} is needed to build runc: ${install(tool)}`);
  }
  if (spawnSync('pkg-config', ['--exists', 'libseccomp']).status === 0) return {};
  const root = await unpacked('libseccomp-dev', machine, say);
  const libraries = join(root, 'usr', 'lib');
  const [triplet = '.'] = readdirSync(libraries).filter((name) => existsSync(join(libraries, name, 'libseccomp.a')));
  const folder = join(libraries, triplet);
  return {
    CGO_CFLAGS: `-I${join(root, 'usr', 'include')}`,
    CGO_LDFLAGS: `-L${folder}`,
    PKG_CONFIG_PATH: join(folder, 'pkgconfig'),
  };
}

/** The folder that holds `nft`: one on the PATH, or one beside the libraries that came with it. */
export async function nftFolder(machine: Machine, say: Say): Promise<string> {
  return onPath('nft', machine) ?? join(await unpacked('nftables', machine, say), 'bin');
}

/** Finds the libraries that were unpacked with the program, from wherever the folder is. */
const withOwnLibraries = (program: string): string => `#!/bin/sh
root=$(dirname "$(dirname "$(readlink -f "$0")")")
for folder in "$root"/usr/lib/*-linux-gnu "$root"/lib/*-linux-gnu; do
  LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$folder
done
export LD_LIBRARY_PATH
exec "$root/usr/sbin/${program}" "$@"
`;

/** The folder on the PATH, or where root's own programs are, that has this program. */
export const onPath = (name: string, { environment }: Machine): string | undefined =>
  [...(environment['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'].find((folder) => executable(join(folder, name)));

const install = (name: string): string => `install the package \`${name}\` (apt-get, dnf or apk), then try again`;

/** The folder in which a package is unpacked, with whatever of its dependencies the machine lacks. */
async function unpacked(name: string, machine: Machine, say: Say): Promise<string> {
  const { ID = 'linux', VERSION_ID = '' } = release();
  const parent = join(machine.cache, 'packages', `${ID}${VERSION_ID}-${machine.platform}`);
  const folder = join(parent, name);
  if (existsSync(folder)) return folder;
  mkdirSync(parent, { recursive: true });
  const waiting = () => say(`waiting for another process that unpacks ${name}`);
  await withLock(lockAddress(machine, 'packages', parent), waiting, async () => {
    if (!existsSync(folder)) await unpack(name, { parent, folder, machine, say });
  });
  return folder;
}

function release(): Record<string, string> {
  const file = '/etc/os-release';
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return Object.fromEntries(lines.map((line) => line.replaceAll('"', '').split('=', 2)));
}

interface Unpacking {
  parent: string;
  folder: string;
  machine: Machine;
  say: Say;
}

/** Appears whole under its name or not at all. */
async function unpack(name: string, { parent, folder, machine, say }: Unpacking): Promise<void> {
  if (!onPath('apt-get', machine)) throw new Error(`${name} is missing: ${install(name)}`);
  const scratch = mkdtempSync(join(parent, '.unpacking-'));
  try {
    say(`unpacking ${name} and what it needs (not installed)`);
    const root = join(scratch, 'root');
    mkdirSync(root);
    await fetchPackages(name, scratch).catch((error: unknown) => {
      throw new Error(`${name} is missing and could not be fetched: ${install(name)}`, { cause: error });
    });
    for (const file of readdirSync(scratch).filter((one) => one.endsWith('.deb'))) {
      await run(['dpkg-deb', '-x', join(scratch, file), root]);
    }
    mkdirSync(join(root, 'bin'), { recursive: true });
    if (name === 'nftables') writeFileSync(join(root, 'bin', 'nft'), withOwnLibraries('nft'), { mode: 0o755 });
    renameSync(root, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A machine that never asked for a list of packages gets one of its own in the scratch folder. */
async function fetchPackages(name: string, scratch: string): Promise<void> {
  const own = ['-o', `Dir::State::lists=${join(scratch, 'lists')}`, '-o', `Dir::Cache=${join(scratch, 'cache')}`];
  try {
    await download(name, [], scratch);
  } catch {
    for (const folder of ['lists/partial', 'cache/archives/partial'])
      mkdirSync(join(scratch, folder), { recursive: true });
    await run(['apt-get', ...own, '-qq', 'update'], apt(scratch));
    await download(name, own, scratch);
  }
}

/** apt itself says what is missing, and checks what it brings. */
async function download(name: string, options: string[], scratch: string): Promise<void> {
  const plan = ['-qq', '-y', '--no-install-recommends', '--print-uris', 'install', '--reinstall', name];
  const lines = (await run(['apt-get', ...options, ...plan], apt(scratch))).split('\n');
  const packages = lines.flatMap((line) => /^'[^']+' ([^_]+)_/.exec(line)?.[1] ?? []);
  if (!packages.includes(name)) throw new Error(`apt-get knows no package ${name}`);
  await run(['apt-get', ...options, '-qq', 'download', ...packages], apt(scratch));
}

const apt = (cwd: string): Surroundings => ({
  cwd,
  environment: { DEBIAN_FRONTEND: 'noninteractive' },
  milliseconds: 300_000,
});
