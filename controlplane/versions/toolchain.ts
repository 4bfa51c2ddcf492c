// Go is the one thing that the machine must bring. Asked inside the module's folder, a Go that may fetch a newer
// one by itself does so and answers with that; what is left gets a sentence that says what to install.

import { spawnSync } from 'node:child_process';
import { moduleFolder, pins } from './modules.ts';

/** The environment of every call of Go: the committed files decide, not the settings of the machine's user. */
export const goEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  CGO_ENABLED: '0',
  GOFLAGS: '',
  GOWORK: 'off',
  GO111MODULE: 'on',
});

/** Throws, with what to install, unless there is a Go that can build the programs. */
export function requireGo(environment: NodeJS.ProcessEnv, platform: string): void {
  const needed = pins().go;
  const fail = (why: string, cause?: Error) => new Error(whatToInstall(needed, platform, why), { cause });
  const answer = spawnSync('go', ['version'], {
    cwd: moduleFolder,
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
