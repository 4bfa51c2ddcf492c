// What a new user does first: `make demo` ends well by itself, and `make run` is stopped in its midst. Neither leaves
// anything behind.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { screenOn } from '../../tools/index.ts';
import { eventually } from '../kit/eventually.ts';
import { foldersOf, processesIn, show } from '../kit/show.ts';

const nothingLeft = (pid: number, folders: string[]) =>
  eventually(() => foldersOf(pid).length === 0 && processesIn(folders).length === 0, {
    within: 20_000,
    what: 'everything is gone',
  });

/** Somebody else's cluster, which the kubeconfig of the machine names: who comes to it is counted. */
async function stranger(): Promise<{ kubeconfig: string; visits(): number; close(): void }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'baton-demo-'));
  const kubeconfig = join(folder, 'config');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = { cluster: 'theirs', user: 'me' };
  writeFileSync(
    kubeconfig,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'theirs',
      contexts: [{ name: 'theirs', context: names }],
      clusters: [{ name: 'theirs', cluster: { server: url } }],
      users: [{ name: 'me', user: { token: 'x' } }],
    }),
  );
  return {
    kubeconfig,
    visits: () => visits,
    close() {
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

// Each waits most of its time, so they wait together.
describe('what a new user does first', { concurrency: 3, skip: process.platform !== 'linux' }, () => {
  test('make demo shows the life of the sample, ends with 0, and leaves nothing', { timeout: 200_000 }, async (t) => {
    const other = await stranger();
    t.after(() => other.close());
    const demo = show(['--demo'], { KUBECONFIG: other.kubeconfig, BATON_CONTEXT: 'theirs' });
    const folders = await eventually(() => (foldersOf(demo.pid).length > 0 ? foldersOf(demo.pid) : undefined));
    equal(await demo.ended, 0, demo.said());
    const said = demo.said();
    match(said, /the node is simulated/);
    for (const phase of ['Downloading', 'Ready']) match(said, new RegExp(`^ +[\\d.]+ s  ${phase} `, 'm'));
    const percents = [...said.matchAll(/ s  Downloading +(\d+) %/g)].map(([, percent]) => Number(percent));
    ok(percents.length >= 3, `the download is seen to move: ${percents.join(', ')}`);
    deepEqual(
      percents,
      percents.toSorted((a, b) => a - b),
    );
    match(said, /^\$ kubectl get mlm +# simulated/m);
    match(said, /^NAME +PHASE +READY .*\nmnist +Ready +True/m);
    equal(said.includes('\x1b'), false, 'no terminal, no control characters');
    await nothingLeft(demo.pid, folders);
    equal(other.visits(), 0, 'the cluster that kubectl uses is left alone');
  });

  test('make run goes on until Ctrl-C, tells how to use it, and leaves nothing', { timeout: 200_000 }, async () => {
    const run = show();
    await eventually(() => run.said().includes('Ctrl-C stops everything'), { within: 150_000, what: run.said() });
    const folders = foldersOf(run.pid);
    match(run.said(), /export KUBECONFIG=\S+\/admin\.kubeconfig/);
    ok(processesIn(folders).length >= 6, 'etcd, API server, scheduler, controllers, kwok and the operator run');
    run.signal('SIGINT');
    equal(await run.ended, 0);
    match(run.said(), /nothing is left/);
    await nothingLeft(run.pid, folders);
  });

  test('make run can be stopped while it is still starting', { timeout: 60_000 }, async () => {
    const run = show();
    const folders = await eventually(() => (foldersOf(run.pid).length > 0 ? foldersOf(run.pid) : undefined));
    run.signal('SIGINT');
    equal(await run.ended, 0);
    await nothingLeft(run.pid, folders);
  });
});

describe('the living line', () => {
  const written = (isTTY: boolean) => {
    const texts: string[] = [];
    const screen = screenOn({ isTTY, columns: 12, write: (text) => texts.push(text) });
    screen.show('Downloading 10 %');
    screen.show('Downloading 10 %');
    screen.show('Ready');
    screen.say('done');
    return texts;
  };

  test('is written over on a terminal, cut to its width, and stays when it is done', () =>
    deepEqual(written(true), ['\r\x1b[2KDownloading', '\r\x1b[2KReady', '\n', 'done\n']));

  test('is not cut on a terminal that does not know its width', () => {
    const texts: string[] = [];
    screenOn({ isTTY: true, columns: 0, write: (text) => texts.push(text) }).show('Ready');
    deepEqual(texts, ['\r\x1b[2KReady']);
  });

  test('is one line a change elsewhere', () => deepEqual(written(false), ['Downloading 10 %\n', 'Ready\n', 'done\n']));
});
