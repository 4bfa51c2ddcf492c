// Which programs make a control plane, which Go package each comes from, and how it is compiled. The versions
// themselves stand in go.mod beside this file and nowhere else: whoever changes them there gets new programs.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Build, goLine, pinnedIn } from './toolchain.ts';

/** The Go package of each program. */
export const packages = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  kwok: 'sigs.k8s.io/kwok/cmd/kwok',
} as const;

/** The programs of a real node that come from the same sources; only whoever starts one builds them. */
export const agentPackages = {
  kubelet: 'k8s.io/kubernetes/cmd/kubelet',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
} as const;

/** The name of a program of the control plane. */
export type ProgramName = keyof typeof packages;

/** The name of a program that runs on a real node and has the version of the control plane. */
export type AgentName = keyof typeof agentPackages;

/** All programs, in the order in which they are built: what everything else waits for comes first. */
export const programNames = Object.keys(packages) as ProgramName[];

/** The folder of go.mod and go.sum. */
export const moduleFolder = import.meta.dirname;

/** What go.mod says. */
export interface Pins {
  /** The oldest Go that can build the programs, like `1.26.0`. */
  go: string;
  /** Like `v1.36.3`. */
  kubernetes: string;
  etcd: string;
  kwok: string;
}

/** Reads the versions out of the text of a go.mod. */
export function pinsOf(goMod: string): Pins {
  const find = (pattern: RegExp, what: string) => pinnedIn(goMod, pattern, what);
  return {
    go: find(goLine, 'Go'),
    kubernetes: find(/\sk8s\.io\/kubernetes (v\S+)/, 'k8s.io/kubernetes'),
    etcd: find(/\sgo\.etcd\.io\/etcd\/server\/v3 (v\S+)/, 'go.etcd.io/etcd/server/v3'),
    kwok: find(/\ssigs\.k8s\.io\/kwok (v\S+)/, 'sigs.k8s.io/kwok'),
  };
}

/** The versions of this checkout. */
export const pins = (): Pins => pinsOf(readFileSync(join(moduleFolder, 'go.mod'), 'utf8'));

/** The arguments of `go` that compile one program into `output`. */
export function buildArguments(name: ProgramName | AgentName, output: string, { kubernetes }: Pins): string[] {
  const [major, minor] = kubernetes.slice(1).split('.');
  const version = 'k8s.io/component-base/version';
  const stamps = `-X ${version}.gitVersion=${kubernetes} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`;
  const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', `-s -w ${stamps}`];
  return ['build', ...flags, '-o', output, { ...packages, ...agentPackages }[name]];
}

/** How one program is built. */
export const buildOf = (name: ProgramName | AgentName): Build => ({
  name,
  modules: moduleFolder,
  arguments: (output) => buildArguments(name, output, pins()),
});

/** One short name for everything that decides what the programs are: equal key, equal programs. */
export function programsKey(platform: string): string {
  const hash = createHash('sha256').update(platform);
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(moduleFolder, file)));
  hash.update(JSON.stringify(programNames.map((name) => buildArguments(name, '', pins()))));
  return `${pins().kubernetes}-${hash.digest('hex').slice(0, 12)}`;
}
