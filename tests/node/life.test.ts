// The life of real nodes: they start and stop, two clusters stand beside each other, and whatever ends their owner,
// nothing is left on the machine: no process, folder, link, mount or cgroup, and no setting that was another before.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ComponentFailure } from '../../controlplane/index.ts';
import { skipReason, startRealCluster } from '../../controlplane/node/index.ts';
import { eventually } from '../kit/eventually.ts';
import { freshNamespace, outcome, pushProbe } from './pods.ts';
import { left, machineWide, marksOf } from './traces.ts';

/** A process that owns a cluster with a running pod on each node; it does not outlive the test. */
function startOwner(context: TestContext, nodes = 1): ChildProcess {
  const program = join(import.meta.dirname, 'owner.ts');
  const owner = spawn(process.execPath, [program, String(nodes)], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => owner.kill('SIGKILL'));
  return owner;
}

const folderOf = (owner: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    owner.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()));
    owner.once('exit', (code) => reject(new Error(`ended with ${code} before it was ready`)));
  });

const nothingLeft = (marks: Parameters<typeof left>[0]) =>
  eventually(
    () => {
      assert.deepEqual(left(marks), []);
      return true;
    },
    { within: 20_000, what: 'nothing is left' },
  );

suite('the life of real nodes', { skip: await skipReason() }, () => {
  test('a stop leaves nothing, at once, and the machine has the settings that it had', async () => {
    const before = machineWide();
    const cluster = await startRealCluster({ nodes: 2 });
    const marks = marksOf(cluster.folder);
    assert.ok(marks.processes.size >= 14, `six in the hub and four on each node: ${marks.processes.size}`);
    assert.deepEqual(machineWide(), before);
    await cluster.stop();
    assert.deepEqual(left(marks), []);
    assert.deepEqual(machineWide(), before);
    await cluster.stop();
  });

  test('an owner killed with SIGKILL leaves nothing, and the next start works', async (context) => {
    const owner = startOwner(context, 2);
    const marks = marksOf(await folderOf(owner));
    assert.ok(marks.processes.size >= 18, `and a pod with its pause on each node: ${marks.processes.size}`);
    owner.kill('SIGKILL');
    await nothingLeft(marks);
    await using cluster = await startRealCluster();
    const namespace = await freshNamespace(cluster);
    const image = await pushProbe(cluster);
    assert.equal(await outcome(cluster, namespace, { name: 'says', does: ['say', 'again'], image }), 'again');
  });

  test('what is left when the watcher is killed too is cleared by the next start', async (context) => {
    const owner = startOwner(context);
    const folder = await folderOf(owner);
    const marks = marksOf(folder);
    const watcher = watcherOf(folder);
    owner.kill('SIGSTOP');
    process.kill(watcher, 'SIGKILL');
    owner.kill('SIGKILL');
    await sleep(500);
    assert.ok(left(marks).length > 10, 'the nodes live on without an owner');
    await using cluster = await startRealCluster();
    assert.deepEqual(left(marks), []);
    assert.equal((await cluster.kubectl(['get', 'nodes', '--no-headers'])).code, 0);
  });

  test('an owner killed at any moment of a start leaves nothing', async (context) => {
    for (const milliseconds of [400, 900, 1600, 2800, 4500]) {
      const owner = startOwner(context);
      await sleep(milliseconds);
      const [folder] = globSync(join(tmpdir(), `baton-controlplane-${owner.pid}-*`));
      const marks = folder && marksOf(folder);
      owner.kill('SIGKILL');
      if (marks) await nothingLeft(marks);
    }
  });

  test('a start that fails names the component, shows its last lines and leaves nothing', async () => {
    await assert.rejects(
      startRealCluster({ flags: { 'kube-apiserver': ['--no-such-flag'] } }),
      (error: Error) =>
        error instanceof ComponentFailure && error.component === 'kube-apiserver' && /no-such-flag/.test(error.message),
    );
    const name = `baton-controlplane-${process.pid}-*`;
    assert.deepEqual([...globSync(join(tmpdir(), name)), ...globSync(`/sys/fs/cgroup/{,*/}${name}`)], []);
  });

  test('two clusters stand beside each other and do not meet', async () => {
    await using one = await startRealCluster();
    await using two = await startRealCluster();
    assert.notEqual(one.registry, two.registry);
    const namespace = await freshNamespace(two);
    const image = await pushProbe(two);
    const get = `http://${one.registry}/v2/`;
    await assert.rejects(outcome(two, namespace, { name: 'asks', does: ['get', get], image }), /unreachable|no route/);
  });
});

function watcherOf(folder: string): number {
  const found = globSync('/proc/[0-9]*/cmdline').find((file) => {
    const words = commandLineIn(file);
    return words[1]?.endsWith('watch.sh') && words[2] === folder;
  });
  assert.ok(found, 'a watcher is there');
  return Number(found.split('/')[2]);
}

function commandLineIn(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\0');
  } catch {
    return [];
  }
}
