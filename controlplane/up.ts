// `make cluster-up`: starts a control plane with one simulated node in the background, or finds the one that is there.

import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { wordsOf } from '../src/base/index.ts';
import { findKept, keeper, kubeconfigIn } from './kept.ts';
import { programs } from './programs.ts';

const kubeconfigPath = kubeconfigIn(process.argv[2]);
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Resolves with the owner's word that it is ready, or that there is another; if it ends before, what it wrote is the error. */
function startOwner(): Promise<string> {
  return new Promise((resolve, reject) => {
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe'];
    const child = spawn(process.execPath, [keeper], { detached: true, stdio });
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
  const { kubectl } = await programs(say);
  const word = findKept() ? 'already running' : await startOwner();
  const kept = findKept();
  if (!kept) throw new Error('the control plane ended as soon as it was ready');
  mkdirSync(dirname(kubeconfigPath), { recursive: true });
  copyFileSync(join(kept.folder, 'admin.kubeconfig'), kubeconfigPath);
  say(`The control plane is ${word === 'ready' ? 'running' : word}. Use it with:`);
  say(`  export KUBECONFIG=${kubeconfigPath}`);
  say(`  alias kubectl=${kubectl}`);
  say('  kubectl get nodes');
  say('Stop it with `make cluster-down`.');
  process.exit(0);
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exit(1);
}
