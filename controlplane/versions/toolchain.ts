// Go is the one thing that the machine must bring. Asked inside the module's folder, a Go that may fetch a newer
// one by itself does so and answers with that; what is left gets a sentence that says what to install.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One program to compile. */
export interface Build {
  name: string;
  /** The folder of its go.mod and go.sum. */
  modules: string;
  /** The arguments of `go` that compile it into `output`. */
  arguments(output: string): string[];
  /** What it needs besides the environment of every call. */
  environment?: NodeJS.ProcessEnv;
}

/** The environment of every call of Go: the committed files decide, not the settings of the machine's user. */
export const goEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  CGO_ENABLED: '0',
  GOFLAGS: '',
  GOWORK: 'off',
  GO111MODULE: 'on',
});

/** Finds one thing that the go.mod in a folder says. */
export function pinned(modules: string, pattern: RegExp, what: string): string {
  return pinnedIn(readFileSync(join(modules, 'go.mod'), 'utf8'), pattern, what);
}

/** Finds one thing in the text of a go.mod. */
export function pinnedIn(goMod: string, pattern: RegExp, what: string): string {
  const found = pattern.exec(goMod)?.[1];
  if (found === undefined) throw new Error(`controlplane/versions: a go.mod names no version of ${what}`);
  return found;
}

/** The line of a go.mod that says which Go it needs at least. */
export const goLine = /^go (\d+\.\d+(?:\.\d+)?)$/m;

/** Throws, with what to install, unless there is a Go that can build the programs of the module in this folder. */
export function requireGo(
  environment: NodeJS.ProcessEnv,
  platform: string,
  modules: string = import.meta.dirname,
): void {
  const needed = pinned(modules, goLine, 'Go');
  const fail = (why: string, cause?: Error) => new Error(whatToInstall(needed, platform, why), { cause });
  const answer = spawnSync('go', ['version'], {
    cwd: modules,
    env: goEnvironment(environment),
    encoding: 'utf8',
  });
  if (answer.error) throw fail('there is no `go` on the PATH', answer.error);
  const found = /go(\d+\.\d+(?:\.\d+)?)/.exec(answer.stdout)?.[1];
  if (answer.status !== 0 || !found) throw fail(`\`go version\` says: ${answer.stderr.trim()}`);
  if (olderThan(found, needed)) throw fail(`the \`go\` on the PATH is ${found}`);
}

/** Whether version `a` comes before version `b`, compared number by number. */
export function olderThan(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (const [index, number] of (right ?? []).entries()) {
    const other = left?.[index] ?? 0;
    if (other !== number) return other < number;
  }
  return false;
}

function whatToInstall(needed: string, platform: string, why: string): string {
  const archive = `go${needed}.${platform.replace('-x64', '-amd64')}.tar.gz`;
  return [
    `Go ${needed} or newer is needed to build the control plane, but ${why}. To install it:`,
    `  curl -LO https://go.dev/dl/${archive}`,
    `  sudo tar -C /usr/local -xzf ${archive}`,
    '  export PATH=/usr/local/go/bin:$PATH',
    'Then try again. Nothing else is needed: the sources come through the Go module proxy.',
  ].join('\n');
}
