// Our programs as they are shipped: plain JavaScript. Run from their sources they would carry Node's type stripper along,
// which weighs 25 MB and is no part of an operator.

import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Compiles our measured programs into build/bench and gives the place of one of them there. */
export function compiled(): (source: string) => string {
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { status, stdout } = spawnSync(tsc, ['--project', import.meta.dirname], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the programs do not compile:\n${stdout}`);
  return (source) => join(root, 'build', 'bench', relative(root, source)).replace(/\.ts$/, '.js');
}
