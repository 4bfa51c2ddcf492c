// `make cluster-up`: starts a control plane with one node, simulated or real, in the background, or finds the one that
// is there.

import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { wordsOf } from '../src/base/index.ts';
import { findKept, keeper, kubeconfigIn, nodesOf } from './kept.ts';
import { footprint, prepareReal, registryIn } from './node/index.ts';
import { programs } from './programs.ts';

const { values, positionals } = parseArgs({ options: { node: { type: 'string' } }, allowPositionals: true });
const wanted = values.node ?? 'simulated';
const kubeconfigPath = kubeconfigIn(positionals[0]);
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Resolves with the owner's word that it is ready, or that there is another; if it ends before, what it wrote is the error. */
function startOwner(): Promise<string> {
  return new Promise((resolve, reject) => {
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe'];
    const child = spawn(process.execPath, [keeper, wanted], { detached: true, stdio });
    let errors = '';
    child.stderr?.on('data', (text: Buffer) => {
      errors += text.toString();
    });
    child.once('close', () => reject(new Error(`the control plane did not start: ${errors.trimEnd()}`)));
    child.stdout?.once('data', (word: Buffer) => {
      child.unref();
      resolve(word.toString().trim());
    });
  });
}

try {
  if (wanted !== 'real' && wanted !== 'simulated') throw new Error(`NODE is real or simulated, not ${wanted}`);
  const { kubectl } = await programs(say);
  if (wanted === 'real' && !findKept()) {
    await prepareReal(say);
    for (const line of footprint) say(line);
  }
  const word = findKept() ? 'already running' : await startOwner();
  const kept = findKept();
  if (!kept) throw new Error('the control plane ended as soon as it was ready');
  if (nodesOf(kept) !== wanted)
    throw new Error(`it is already running, with ${nodesOf(kept)} nodes. Stop it first: make cluster-down`);
  mkdirSync(dirname(kubeconfigPath), { recursive: true });
  copyFileSync(join(kept.folder, 'admin.kubeconfig'), kubeconfigPath);
  say(`The control plane is ${word === 'ready' ? 'running' : word}. Use it with:`);
  say(`  export KUBECONFIG=${kubeconfigPath}`);
  say(`  alias kubectl=${kubectl}`);
  say('  kubectl get nodes');
  if (wanted === 'real') say(`Images go to ${registryIn(kept.folder)} (plain HTTP).`);
  say('Stop it with `make cluster-down`.');
  process.exit(0);
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exit(1);
}
