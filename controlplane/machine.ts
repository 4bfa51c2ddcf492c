// What this machine is and where it keeps things. This is the only file of the folder that reads the environment,
// so that everything else can be told another machine by its arguments.

import { createHash } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** The facts about a machine that decide what is built, and where programs and data are kept. */
export interface Machine {
  /** Where built programs stay: outside every checkout, so that a second clone builds nothing. */
  cache: string;
  /** Where the data of running control planes lies. */
  temporary: string;
  /** A folder with programs that somebody else provides (`KUBEBUILDER_ASSETS`). */
  assets: string | undefined;
  /** Where the logs of control planes stay when these are gone (`BATON_KEEP`). */
  keep: string | undefined;
  /** Handed on to the Go tools. */
  environment: NodeJS.ProcessEnv;
  platform: string;
  /** Keeps the machine's users out of each other's way in the shared temporary folder. */
  user: number;
}

/** The machine this process runs on. */
export function thisMachine(environment: NodeJS.ProcessEnv = process.env): Machine {
  return {
    cache: environment['BATON_CACHE'] || join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'baton'),
    temporary: tmpdir(),
    assets: environment['KUBEBUILDER_ASSETS'] || undefined,
    keep: environment['BATON_KEEP'] || undefined,
    environment,
    platform: `${process.platform}-${process.arch}`,
    user: process.getuid?.() ?? 0,
  };
}

/**
 * The address of the socket that is the lock for `purpose` on the folder `about`, for `withLock`; short, as such an
 * address must be. On Linux it is a mere name in the kernel that goes with its holder, elsewhere a file.
 */
export function lockAddress({ temporary, user, platform }: Machine, purpose: string, about: string): string {
  const name = createHash('sha256').update(about).digest('hex').slice(0, 12);
  const path = join(temporary, `baton-${purpose}-${user}-${name}.sock`);
  return platform.startsWith('linux') ? `\0${path}` : path;
}
