// A build and its end, with a stand-in for Go that works until it is stopped.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { alive } from '../processes.ts';
import { compile } from './compile.ts';
import { buildOf } from './modules.ts';

const root = mkdtempSync(join(tmpdir(), 'baton-compile-'));
after(() => rmSync(root, { recursive: true }));

const kwok = buildOf('kwok');

/** An environment whose `go` is this script, and an empty folder for what it builds. */
function setting(name: string, script: string) {
  const folder = join(root, name);
  const bin = join(folder, 'bin');
  const out = join(folder, 'out');
  for (const one of [bin, out]) mkdirSync(one, { recursive: true });
  writeFileSync(join(bin, 'go'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { folder: out, environment: { PATH: `${bin}:${process.env['PATH']}` } };
}

async function eventually(holds: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 200, what);
    await sleep(50);
  }
}

/** Finds `-o <path>` among the arguments and writes there. */
const builds = 'while [ "$1" != -o ]; do shift; done; echo built >"$2"; echo "$GOTMPDIR" >"$2".tmp';

test('a program appears whole, Go works in the scratch folder, and that is gone in the end', async () => {
  const { folder, environment } = setting('whole', `${builds}; cp "$2".tmp "$(dirname "$GOTMPDIR")"/tmp`);
  await compile([kwok], { folder, environment, say: () => {} });
  assert.equal(readFileSync(join(folder, 'kwok'), 'utf8'), 'built\n');
  assert.match(readFileSync(join(folder, 'tmp'), 'utf8'), /out\/\.building-\d+-\w+\n$/);
  assert.deepEqual(readdirSync(folder).toSorted(), ['kwok', 'tmp']);
});

test('a failed build says what Go said', async () => {
  const { folder, environment } = setting('failed', 'echo no such package >&2; exit 3');
  await assert.rejects(compile([kwok], { folder, environment, say: () => {} }), /ended with 3:\nno such package/);
  assert.deepEqual(readdirSync(folder), []);
});

test('a builder that is killed takes the compiler and its files along', async () => {
  const endless = 'echo x >"$GOTMPDIR"/half; sleep 300 & echo $$ $! >"$GOTMPDIR"/../pids; wait';
  const { folder, environment } = setting('killed', endless);
  const script = `const { compile } = await import(${JSON.stringify(join(import.meta.dirname, 'compile.ts'))});
    const { buildOf } = await import(${JSON.stringify(join(import.meta.dirname, 'modules.ts'))});
    await compile([buildOf('kwok')], { ...${JSON.stringify({ folder, environment })}, say: () => {} });`;
  const builder = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  const list = join(folder, 'pids');
  const pids = () => (existsSync(list) ? readFileSync(list, 'utf8').trim().split(' ').map(Number) : []);
  await eventually(() => pids().length === 2, 'the compiler runs, with a child');
  builder.kill('SIGKILL');
  await eventually(() => !pids().some(alive), 'the compiler and its child are gone');
  await eventually(() => readdirSync(folder).length === 1, 'nothing but the list of numbers is left');
});

test('the next builder removes what belongs to nobody, and leaves what somebody works on', async () => {
  const { folder, environment } = setting('stale', builds);
  const gone = spawn('true');
  await new Promise((resolve) => gone.once('exit', resolve));
  for (const name of [`.building-${gone.pid}-a`, `.building-${process.pid}-b`]) mkdirSync(join(folder, name));
  await compile([kwok], { folder, environment, say: () => {} });
  assert.deepEqual(readdirSync(folder).toSorted(), [`.building-${process.pid}-b`, 'kwok']);
});
