// Python with the packages of a requirements file, installed once for each state of it into the cache where the control plane's
// programs lie, never into the machine's own Python. pip is found in any of the ways in which systems ship it.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, thisMachine } from '../../controlplane/index.ts';

/** How to run Python so that it finds the packages. */
export interface Python {
  program: string;
  environment: NodeJS.ProcessEnv;
}

const python = 'python3';
const oldest = [3, 11] as const;

/** Python with these packages; the first time takes a while, and `say` is told. */
export async function pythonWith(
  requirements: string,
  say: (line: string) => void,
  machine: Machine = thisMachine(),
): Promise<Python> {
  const version = pythonVersion();
  const cache = join(machine.cache, 'python');
  const key = createHash('sha256').update(version).update(machine.platform).update(readFileSync(requirements));
  const folder = join(cache, key.digest('hex').slice(0, 12));
  if (!existsSync(folder)) {
    say(`installing Python packages into ${folder} (once)`);
    await install(cache, folder, requirements, machine);
  }
  const environment = {
    ...machine.environment,
    PYTHONPATH: folder,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONNOUSERSITE: '1',
  };
  return { program: python, environment };
}

function pythonVersion(): string {
  const { status, stdout } = spawnSync(python, ['-c', 'import sys; print(sys.version_info[:2])'], { encoding: 'utf8' });
  const [major = 0, minor = 0] = (stdout ?? '').match(/\d+/g)?.map(Number) ?? [];
  const enough = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  if (status !== 0 || !enough)
    throw new Error(
      `python3 ${oldest.join('.')} or newer is needed and was not found: install python3 and python3-pip`,
    );
  return `${major}.${minor}`;
}

/** Aside first, and moved when it is whole. */
async function install(cache: string, folder: string, requirements: string, machine: Machine): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, '.installing-'));
  const exactly = ['--require-hashes', '--no-deps', '--only-binary', ':all:'];
  const quietly = ['--quiet', '--disable-pip-version-check', '--root-user-action', 'ignore', '--no-cache-dir'];
  try {
    const pip = await findPip(machine);
    const args = [...pip, 'install', ...quietly, ...exactly, '--target', scratch, '--requirement', requirements];
    await run(python, args, machine);
    if (!existsSync(folder)) renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** pip as a module, or in the wheel that systems ship for virtual environments, or from the system's packages. */
async function findPip(machine: Machine): Promise<string[]> {
  const pip = pipThere();
  if (pip) return pip;
  const root = machine.user === 0 && spawnSync('apt-get', ['--version']).status === 0;
  if (root) {
    const environment = { ...machine.environment, DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '--quiet=2'], { environment });
    await run('apt-get', ['install', '--quiet=2', '--yes', '--no-install-recommends', 'python3-pip'], { environment });
  }
  const installed = pipThere();
  if (!installed) throw new Error('python3 has no pip: install python3-pip');
  return installed;
}

function pipThere(): string[] | undefined {
  if (spawnSync(python, ['-m', 'pip', '--version']).status === 0) return ['-m', 'pip'];
  const bundled = spawnSync(python, ['-c', 'import ensurepip; print(ensurepip.__path__[0])'], { encoding: 'utf8' });
  const places = ['/usr/share/python-wheels', join((bundled.stdout ?? '').trim(), '_bundled')];
  const wheel = places.flatMap((place) => globSync(join(place, 'pip-*.whl')))[0];
  return wheel === undefined ? undefined : [join(wheel, 'pip')];
}

/** Ten minutes for a network that is slow. */
const patience = 600_000;

function run(program: string, args: readonly string[], { environment }: Pick<Machine, 'environment'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environment, stdio: ['ignore', 'ignore', 'pipe'], timeout: patience });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
    child.once('error', reject).once('close', (code) => {
      if (code === 0) return resolve();
      return reject(new Error(`${program} ${args.join(' ')} ended with ${code}:\n${said}`));
    });
  });
}
