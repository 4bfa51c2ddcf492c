// Which folder is taken for the control plane in the background, with folders and processes made by hand.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { claim, findKept, keeper } from './kept.ts';

const user = process.getuid?.() ?? 0;
const linux = { skip: existsSync('/proc/self') ? false : 'needs /proc' };
const root = mkdtempSync(join(tmpdir(), 'baton-kept-'));
const running: ChildProcess[] = [];
after(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(root, { recursive: true });
});

/** A process that sleeps, with one argument more. */
function sleeper(argument: string): number {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', argument]);
  running.push(child);
  return child.pid ?? 0;
}

/** A temporary folder with one claimed control plane's folder in it, for this owner. */
function planeOf(owner: number): { temporary: string; folder: string } {
  const temporary = mkdtempSync(join(root, 't-'));
  const folder = join(temporary, `baton-controlplane-${owner}-x`);
  mkdirSync(folder);
  claim(folder);
  return { temporary, folder };
}

test('the folder of a keeper is found', linux, () => {
  const owner = sleeper(keeper);
  const { temporary, folder } = planeOf(owner);
  assert.deepEqual(findKept({ temporary, user }), { folder, owner });
});

test('a number that is a stranger by now is left alone', linux, () => {
  const { temporary } = planeOf(sleeper('/elsewhere/keep.ts'));
  assert.equal(findKept({ temporary, user }), undefined);
});

test("another user's folder is none, and a link to one's own is none either", linux, () => {
  const owner = sleeper(keeper);
  const { temporary, folder } = planeOf(owner);
  assert.equal(findKept({ temporary, user: user + 1 }), undefined);
  const links = mkdtempSync(join(root, 't-'));
  symlinkSync(folder, join(links, `baton-controlplane-${owner}-y`));
  assert.equal(findKept({ temporary: links, user }), undefined);
});
