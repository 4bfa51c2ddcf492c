// The life of control planes: they start, several at once, and stop; and whatever ends their owner, nothing is left.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ComponentFailure, startControlPlane } from '../../controlplane/index.ts';
import { canSeeProcesses, eventually, processesNaming } from './controlplane-waiting.ts';

const root = join(import.meta.dirname, '..', '..');
const linux = { skip: canSeeProcesses ? false : 'needs /proc' };
const homesOf = (owner: number | undefined) =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`baton-controlplane-${owner}-`));

/** A process that starts a control plane, says so, and waits. */
function startOwner(options = '{ controllers: "none" }', home = tmpdir()): ChildProcess {
  const door = JSON.stringify(join(root, 'controlplane', 'index.ts'));
  const script = `const { startControlPlane } = await import(${door});
    const plane = await startControlPlane(${options});
    console.log(plane.folder);
    setInterval(() => {}, 1000);`;
  const env = { ...process.env, TMPDIR: home };
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'], env });
}

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()));
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it was ready`)));
  });

test('two control planes run at once, know nothing of each other, and stop without a trace', async () => {
  const [one, two] = await Promise.all([
    startControlPlane({ controllers: 'none' }),
    startControlPlane({ controllers: 'none' }),
  ]);
  assert.equal((await one.kubectl(['create', 'namespace', 'only-here'])).code, 0);
  assert.equal((await two.request({ path: '/api/v1/namespaces/only-here' })).status, 404);
  await two.stop();
  assert.equal((await one.request({ path: '/api/v1/namespaces/only-here' })).status, 200);
  await one.stop();
  await one.stop();
  for (const { folder, pids } of [one, two]) {
    assert.equal(existsSync(folder), false);
    for (const pid of Object.values(pids)) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  }
});

test('an owner killed with SIGKILL leaves no process and no folder', linux, async () => {
  const owner = startOwner('{ nodes: 1 }');
  const folder = await firstLine(owner);
  assert.ok(processesNaming(folder).length >= 6, 'five components and the watcher');
  owner.kill('SIGKILL');
  await gone(folder);
});

test('an owner killed in the middle of a start leaves nothing either', linux, async () => {
  for (const milliseconds of [250, 600, 1500]) {
    const owner = startOwner();
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    owner.kill('SIGKILL');
    await eventually(
      () => [...processesNaming(`baton-controlplane-${owner.pid}-`), ...homesOf(owner.pid)],
      (left) => left.length === 0,
    );
  }
});

test('what is left when the watcher is killed as well is cleared by the next start', linux, async (t) => {
  // A place of its own: every start elsewhere on this machine would clear what is left as well.
  const home = mkdtempSync(join(tmpdir(), 'baton-left-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const owner = startOwner('{ controllers: "none" }', home);
  const folder = await firstLine(owner);
  const watcher = processesNaming(folder).find((pid) => isWatcher(pid));
  assert.ok(watcher);
  process.kill(watcher, 'SIGKILL');
  owner.kill('SIGKILL');
  await eventually(
    () => processesNaming(folder).length,
    (count) => count === 2,
  );
  const next = startOwner('{ controllers: "none" }', home);
  const fresh = await firstLine(next);
  await gone(folder);
  next.kill('SIGKILL');
  await gone(fresh);
});

const gone = (folder: string) =>
  eventually(
    () => ({ pids: processesNaming(folder), folder: existsSync(folder) }),
    (left) => left.pids.length === 0 && !left.folder,
  );

const isWatcher = (pid: number) => processesNaming('watch.sh').includes(pid);

test('a start that fails names the component, shows its last lines and leaves nothing', async () => {
  const before = homesOf(process.pid);
  await assert.rejects(startControlPlane({ flags: { 'kube-apiserver': ['--no-such-flag'] } }), (error) => {
    assert.ok(error instanceof ComponentFailure);
    assert.equal(error.component, 'kube-apiserver');
    assert.match(error.message, /kube-apiserver ended with code 1/);
    assert.match(error.message, /unknown flag: --no-such-flag/);
    return true;
  });
  await assert.rejects(startControlPlane({ flags: { 'kube-scheduler': ['--config=/nowhere'] } }), (error) => {
    assert.ok(error instanceof ComponentFailure);
    assert.equal(error.component, 'kube-scheduler');
    assert.match(error.lastLines, /nowhere/);
    return true;
  });
  assert.deepEqual(homesOf(process.pid), before);
});

test('the cluster of `make cluster-up` stays until `make cluster-down`, and both may be called twice', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'baton-up-'));
  const kubeconfig = join(temporary, 'kubeconfig');
  const run = (file: string) =>
    spawnSync(process.execPath, [join(root, 'controlplane', file), kubeconfig], {
      env: { ...process.env, TMPDIR: temporary },
      encoding: 'utf8',
      timeout: 60_000,
    });
  const up = run('up.ts');
  assert.equal(up.status, 0, up.stderr);
  const kubectl = /alias kubectl=(.*)/.exec(up.stdout)?.[1] ?? '';
  const nodes = () => spawnSync(kubectl, ['--kubeconfig', kubeconfig, 'get', 'nodes'], { encoding: 'utf8' });
  assert.match(nodes().stdout, /node-1\s+Ready/);
  assert.match(run('up.ts').stdout, /already running/);
  assert.match(nodes().stdout, /node-1\s+Ready/);
  assert.match(run('down.ts').stdout, /is stopped/);
  assert.deepEqual(readdirSync(temporary), []);
  const again = run('down.ts');
  assert.equal(again.status, 0);
  assert.match(again.stdout, /nothing to stop/);
  rmSync(temporary, { recursive: true });
});
