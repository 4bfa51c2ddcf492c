// What this machine is and where it keeps things. This is the only file of the folder that reads the environment,
// so that everything else can be told another machine by its arguments.

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
    environment,
    platform: `${process.platform}-${process.arch}`,
    user: process.getuid?.() ?? 0,
  };
}
