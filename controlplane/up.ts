// `make cluster-up`: starts a control plane with one simulated node in the background, or finds the one that is there.

import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { wordsOf } from '../src/base/index.ts';
import { findKept, kubeconfigIn } from './kept.ts';
import { programs } from './programs.ts';

const kubeconfigPath = kubeconfigIn(process.argv[2]);
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Resolves when the owner says that it is ready; if it ends before, what it wrote is the error. */
function startOwner(): Promise<void> {
  return new Promise((resolve, reject) => {
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe'];
    const child = spawn(process.execPath, [join(import.meta.dirname, 'keep.ts')], { detached: true, stdio });
    let errors = '';
    child.stderr?.on('data', (text: Buffer) => {
      errors += text.toString();
    });
    child.once('exit', (code) => reject(new Error(`the control plane did not start (${code}):\n${errors}`)));
    child.stdout?.once('data', () => {
      child.unref();
      resolve();
    });
  });
}

try {
  const { kubectl } = await programs(say);
  const before = findKept();
  if (!before) await startOwner();
  const kept = findKept();
  if (!kept) throw new Error('the control plane ended as soon as it was ready');
  mkdirSync(dirname(kubeconfigPath), { recursive: true });
  copyFileSync(join(kept.folder, 'admin.kubeconfig'), kubeconfigPath);
  say(before ? 'The control plane is already running. Use it with:' : 'The control plane is running. Use it with:');
  say(`  export KUBECONFIG=${kubeconfigPath}`);
  say(`  alias kubectl=${kubectl}`);
  say('  kubectl get nodes');
  say('Stop it with `make cluster-down`.');
  process.exit(0);
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exit(1);
}
