// Builds the Go programs that we are measured against, once for each state of their sources, into the cache where the
// control plane's own programs lie. They are built aside and moved when they are whole.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { goEnvironment, type Machine, requireGo, thisMachine } from '../controlplane/index.ts';

const sources = join(import.meta.dirname, 'peers');
const packages = {
  cache: './cache',
  writes: './writes',
  operator: './models/operator',
  chain: './models/chain',
} as const;
const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w'];

/** The path of each Go program. */
export type Peers = Record<keyof typeof packages, string>;

/** The programs; the first build takes minutes, and `say` is told. */
export async function peers(say: (line: string) => void, machine: Machine = thisMachine()): Promise<Peers> {
  const cache = join(machine.cache, 'bench');
  const folder = join(cache, keyOf(machine.platform));
  if (!existsSync(folder)) {
    requireGo(machine.environment, machine.platform);
    say('building the Go programs to compare with (once, a few minutes)');
    mkdirSync(cache, { recursive: true });
    await build(cache, folder, machine.environment);
  }
  const place = (name: keyof Peers) => join(folder, name);
  return { cache: place('cache'), writes: place('writes'), operator: place('operator'), chain: place('chain') };
}

function keyOf(platform: string): string {
  const hash = createHash('sha256').update(platform).update(flags.join(' '));
  for (const file of globSync('**/*.{go,mod,sum}', { cwd: sources }).toSorted())
    hash.update(file).update(readFileSync(join(sources, file)));
  return hash.digest('hex').slice(0, 12);
}

async function build(cache: string, folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const scratch = mkdtempSync(join(cache, '.building-'));
  try {
    await go(['build', ...flags, '-o', scratch, ...Object.values(packages)], environment);
    if (!existsSync(folder)) renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function go(args: string[], environment: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = goEnvironment(environment);
    const child = spawn('go', args, { cwd: sources, env, stdio: ['ignore', 'ignore', 'inherit'] });
    child
      .once('error', reject)
      .once('close', (code) => (code === 0 ? resolve() : reject(new Error(`go build ended with ${code}`))));
  });
}
