// `make cluster-up` with programs that do not work: what people are shown, and that two at once come one after the other.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { thisMachine } from './machine.ts';
import { programsFolder } from './programs.ts';
import { programNames } from './versions/modules.ts';

const root = mkdtempSync(join(tmpdir(), 'baton-up-'));
after(() => rmSync(root, { recursive: true }));

/** The environment of a machine on which every program is this script. */
function machineOf(name: string, script: string): NodeJS.ProcessEnv & { TMPDIR: string } {
  const { PATH } = process.env;
  const environment = { PATH, BATON_CACHE: join(root, name, 'cache'), TMPDIR: join(root, name, 'tmp') };
  const folder = programsFolder(thisMachine(environment));
  for (const one of [folder, environment.TMPDIR]) mkdirSync(one, { recursive: true });
  for (const one of programNames) writeFileSync(join(folder, one), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return environment;
}

function up(environment: NodeJS.ProcessEnv): Promise<{ code: number | null; errors: string }> {
  const program = join(import.meta.dirname, 'up.ts');
  const child = spawn(process.execPath, [program, join(root, 'kubeconfig')], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, errors })));
}

test('a component that fails is shown with its log, and nothing else is', async () => {
  const environment = machineOf('broken', 'echo the disk is bad; exit 7');
  assert.deepEqual(await up(environment), {
    code: 1,
    errors: 'the control plane did not start: etcd ended with code 7; the last lines of its log:\nthe disk is bad\n',
  });
  assert.deepEqual(readdirSync(environment.TMPDIR), []);
});

test('two at once start one after the other', async () => {
  const log = join(root, 'log');
  const environment = machineOf('both', `echo begin >>${log}; sleep 0.5; echo end >>${log}; exit 7`);
  const both = await Promise.all([up(environment), up(environment)]);
  assert.deepEqual(
    both.map(({ code }) => code),
    [1, 1],
  );
  assert.equal(readFileSync(log, 'utf8'), 'begin\nend\nbegin\nend\n');
});
