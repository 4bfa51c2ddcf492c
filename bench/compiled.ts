// Our programs as they are shipped: plain JavaScript. Run from their sources they would carry Node's type stripper along,
// which weighs 25 MB and is no part of an operator.

import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const output = join(root, 'build', 'bench');

/** Compiles everything into build/bench and gives the place of a program there. */
export function compiled(): (source: string) => string {
  const options = ['--noEmit', 'false', '--outDir', output, '--rewriteRelativeImportExtensions'];
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { status, stdout } = spawnSync(tsc, options, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the sources do not compile:\n${stdout}`);
  return (source) => join(output, relative(root, source)).replace(/\.ts$/, '.js');
}
