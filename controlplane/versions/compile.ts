// Compiles programs one after another into the cache and tells how it goes. Each program is built under a name of
// its own and renamed when it is whole, so that nobody ever starts half a program.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildArguments, moduleFolder, type ProgramName, pins } from './modules.ts';
import { goEnvironment } from './toolchain.ts';

/** Where the programs go, and who is told about it. */
export interface Compilation {
  folder: string;
  environment: NodeJS.ProcessEnv;
  say: (line: string) => void;
}

const tellEvery = 10_000;
const scratchPrefix = '.building-';
const abandonedAfter = 6 * 3600 * 1000;

/** Builds the named programs; a first build takes minutes, and a line at least every ten seconds says where it is. */
export async function compile(names: ProgramName[], { folder, environment, say }: Compilation): Promise<void> {
  clearAbandoned(folder);
  const scratch = mkdtempSync(join(folder, scratchPrefix));
  const began = performance.now();
  const elapsed = () => `${Math.round((performance.now() - began) / 1000)} s`;
  try {
    for (const [index, name] of names.entries()) {
      const progress = `${name} (${index + 1} of ${names.length})`;
      say(`building ${progress}`);
      const output = join(scratch, name);
      await runGo(buildArguments(name, output, pins()), environment, (last) =>
        say(`building ${progress}: ${elapsed()}${last && `, ${last}`}`),
      );
      renameSync(output, join(folder, name));
      say(`built ${progress}: ${elapsed()}`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A killed build leaves half a program under a name that nobody reads. */
function clearAbandoned(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(scratchPrefix))) {
    const path = join(folder, name);
    if (Date.now() - statSync(path).mtimeMs > abandonedAfter) rmSync(path, { recursive: true, force: true });
  }
}

function runGo(args: string[], environment: NodeJS.ProcessEnv, tell: (last: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, {
      cwd: moduleFolder,
      env: goEnvironment(environment),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let tail = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-4000);
    });
    const timer = setInterval(() => tell(tail.trimEnd().split('\n').at(-1) ?? ''), tellEvery);
    child.once('error', reject).once('close', (code) => {
      clearInterval(timer);
      if (code === 0) return resolve();
      reject(new Error(`go ${args.join(' ')} ended with ${code}:\n${tail.trimEnd()}`));
    });
  });
}
