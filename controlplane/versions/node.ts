// The programs of a real node that are not Kubernetes' own: which Go package each comes from and how it is compiled.
// They are pinned apart from the control plane, because the modules of containerd and CoreDNS would lift those of
// Kubernetes to another version. The S3 server is apart once more: few need it.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Build, pinned } from './toolchain.ts';

const folders = { node: join(import.meta.dirname, 'node'), s3: join(import.meta.dirname, 's3') } as const;

/** A module of programs that is pinned on its own. */
export type ModuleName = keyof typeof folders;

/** The folder of a module's go.mod and go.sum. */
export const folderOfModule = (module: ModuleName): string => folders[module];

/** The Go package of each program, by module; what others wait for comes first. */
export const nodePackages = {
  node: {
    registry: 'baton.dev/node/registry',
    crane: 'github.com/google/go-containerregistry/cmd/crane',
    containerd: 'github.com/containerd/containerd/v2/cmd/containerd',
    'containerd-shim-runc-v2': 'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2',
    ctr: 'github.com/containerd/containerd/v2/cmd/ctr',
    runc: 'github.com/opencontainers/runc',
    ptp: 'github.com/containernetworking/plugins/plugins/main/ptp',
    'host-local': 'github.com/containernetworking/plugins/plugins/ipam/host-local',
    portmap: 'github.com/containernetworking/plugins/plugins/meta/portmap',
    coredns: 'baton.dev/node/dns',
    pause: 'baton.dev/node/pause',
    probe: 'baton.dev/node/probe',
  },
  s3: { versitygw: 'github.com/versity/versitygw/cmd/versitygw' },
} as const;

/** The name of a program that is pinned here. */
export type NodeProgramName = { [M in ModuleName]: keyof (typeof nodePackages)[M] }[ModuleName];

/** The names of all programs that are pinned here. */
export const nodeProgramNames = Object.values(nodePackages).flatMap((names) => Object.keys(names)) as NodeProgramName[];

/** The module that a program belongs to. */
export const moduleOf = (name: NodeProgramName): ModuleName => (name in nodePackages.s3 ? 's3' : 'node');

/** How one program is built; `seccomp` tells the C compiler where the library is that runc alone is linked with. */
export function nodeBuildOf(name: NodeProgramName, seccomp: NodeJS.ProcessEnv): Build {
  const build = { name, modules: folders[moduleOf(name)], arguments: (output: string) => argumentsFor(name, output) };
  return name === 'runc' ? { ...build, environment: { CGO_ENABLED: '1', ...seccomp } } : build;
}

/** One short name for everything that decides what the programs of a module are. */
export function moduleKey(module: ModuleName, platform: string): string {
  const hash = createHash('sha256').update(platform);
  for (const file of sources(folders[module])) hash.update(readFileSync(file));
  const names = Object.keys(nodePackages[module]) as NodeProgramName[];
  hash.update(JSON.stringify(names.map((name) => argumentsFor(name, ''))));
  return `${versionOf(module === 's3' ? 'versitygw' : 'containerd')}-${hash.digest('hex').slice(0, 12)}`;
}

const sources = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?:\.go|go\.mod|go\.sum)$/.test(file))
    .toSorted()
    .map((file) => join(folder, file));

/** The arguments of `go`; the versions that programs tell of themselves are the ones that go.mod names. */
function argumentsFor(name: NodeProgramName, output: string): string[] {
  const { tags = [], linking = '' } = special()[name] ?? {};
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', ...tags, '-ldflags', `-s -w ${linking}`.trimEnd()];
  const all: Record<NodeProgramName, string> = { ...nodePackages.node, ...nodePackages.s3 };
  return ['build', ...flags, '-o', output, all[name]];
}

/** runc is linked with everything it needs: it runs in file systems that have no libraries. */
const special = (): Partial<Record<NodeProgramName, { tags?: string[]; linking: string }>> => ({
  containerd: { linking: stamp('github.com/containerd/containerd/v2/version.Version', 'containerd') },
  runc: {
    tags: ['-tags', 'seccomp,netgo,osusergo'],
    linking: `-linkmode external -extldflags -static ${stamp('main.version', 'runc')}`,
  },
});

const stamp = (variable: string, of: keyof typeof versionLines): string => `-X ${variable}=${versionOf(of).slice(1)}`;

const versionLines = {
  containerd: /\sgithub\.com\/containerd\/containerd\/v2 (v\S+)/,
  runc: /\sgithub\.com\/opencontainers\/runc (v\S+)/,
  versitygw: /\sgithub\.com\/versity\/versitygw (v\S+)/,
} as const;

/** The version of a program, like `v2.4.2`. */
export const versionOf = (name: keyof typeof versionLines): string =>
  pinned(folders[moduleOf(name)], versionLines[name], name);
