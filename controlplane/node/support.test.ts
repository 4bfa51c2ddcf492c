// What is said on machines that cannot have real nodes, with machines made by hand.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { type Machine, thisMachine } from '../machine.ts';
import { probeFolder, skipReason, whyNot } from './support.ts';

const quiet = (line: string) => assert.fail(line);
const machine = (change: Partial<Machine>, environment: NodeJS.ProcessEnv = {}): Machine => ({
  ...thisMachine({ PATH: process.env['PATH'], ...environment }),
  platform: 'linux-x64',
  user: 0,
  ...change,
});

test('another system is named', async () => {
  assert.match((await whyNot(machine({ platform: 'darwin-arm64' }), quiet)) ?? '', /darwin-arm64.*needs Linux/);
});

test('without root that is the reason', async () => {
  assert.match((await whyNot(machine({ user: 1000 }), quiet)) ?? '', /only root/);
});

test('missing programs are named with their packages', async () => {
  const reason = await whyNot(machine({ environment: { PATH: '/nowhere' } }), quiet);
  assert.match(reason ?? '', /the program unshare is missing \(package util-linux\)/);
});

test('a folder that a node would hide is named with the way out', async (context) => {
  if (process.platform !== 'linux') return context.skip('the programs that are looked for first are of Linux');
  assert.match(
    (await whyNot(machine({ cache: '/var/lib/ci/.cache' }), quiet)) ?? '',
    /\/var\/lib\/ci.*set BATON_CACHE/,
  );
});

test('on a build server a reason is a failure on Linux as root, and only there', async () => {
  const CI = 'true';
  assert.match(String(await skipReason(machine({ user: 1000 }, { CI }))), /only root/);
  await assert.rejects(skipReason(machine({ cache: '/run/cache' }, { CI })), /real nodes have to run here/);
});

test('what a killed try left behind goes with the next, and nothing that somebody uses', async (context) => {
  const temporary = mkdtempSync(join(tmpdir(), 'baton-support-'));
  context.after(() => rmSync(temporary, { recursive: true }));
  const gone = spawn('true');
  await once(gone, 'exit');
  mkdirSync(join(temporary, `baton-probe-${gone.pid}-a`, 'work', 'work'), { recursive: true });
  const others = [`baton-probe-${process.pid}-b`, 'baton-probe-of-a-stranger'];
  for (const name of others) mkdirSync(join(temporary, name));
  const folder = probeFolder(machine({ temporary, user: process.getuid?.() ?? 0 }));
  assert.deepEqual(readdirSync(temporary).toSorted(), [...others, basename(folder)].toSorted());
});
