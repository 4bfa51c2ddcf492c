// Compiles programs one after another into the cache and tells how it goes. Each program is built under a name of
// its own and renamed when it is whole, so that nobody ever starts half a program.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { alive } from '../processes.ts';
import { type Build, goEnvironment } from './toolchain.ts';

/** Where the programs go, and who is told about it. */
export interface Compilation {
  folder: string;
  environment: NodeJS.ProcessEnv;
  say: (line: string) => void;
}

const tellEvery = 10_000;
const scratchPrefix = '.building-';
const runner = join(import.meta.dirname, 'run.sh');
const abandonedAfter = 6 * 3600 * 1000;

/** Builds the named programs; a first build takes minutes, and a line at least every ten seconds says where it is. */
export async function compile(builds: Build[], { folder, environment, say }: Compilation): Promise<void> {
  clearAbandoned(folder);
  const scratch = mkdtempSync(join(folder, `${scratchPrefix}${process.pid}-`));
  const began = performance.now();
  const elapsed = () => `${Math.round((performance.now() - began) / 1000)} s`;
  try {
    for (const [index, build] of builds.entries()) {
      const { name } = build;
      const progress = `${name} (${index + 1} of ${builds.length})`;
      say(`building ${progress}`);
      const output = join(scratch, name);
      await runGo(build, { scratch, environment, output }, (last) =>
        say(`building ${progress}: ${elapsed()}${last && `, ${last}`}`),
      );
      renameSync(output, join(folder, name));
      say(`built ${progress}: ${elapsed()}`);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A build that was killed together with the shell beside it leaves its folder. An old one's number may be another's by now. */
function clearAbandoned(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(scratchPrefix))) {
    const path = join(folder, name);
    const owner = Number(name.slice(scratchPrefix.length).split('-', 1)[0]);
    const old = Date.now() - statSync(path).mtimeMs > abandonedAfter;
    if (old || (owner > 0 && !alive(owner))) rmSync(path, { recursive: true, force: true });
  }
}

interface Place {
  scratch: string;
  environment: NodeJS.ProcessEnv;
  output: string;
}

/** Go ends with this process, however that ends; what it writes on its way is in the scratch folder and goes with it. */
function runGo(build: Build, { scratch, environment, output }: Place, tell: (last: string) => void): Promise<void> {
  const args = build.arguments(output);
  return new Promise((resolve, reject) => {
    const child = spawn('sh', [runner, scratch, 'go', ...args], {
      cwd: build.modules,
      detached: true,
      env: { ...goEnvironment(environment), ...build.environment, GOTMPDIR: scratch },
      stdio: ['pipe', 'ignore', 'pipe'],
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
