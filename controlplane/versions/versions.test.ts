import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { withLock } from './lock.ts';
import { buildArguments, pins, pinsOf, programsKey } from './modules.ts';
import { olderThan, requireGo } from './toolchain.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-lock-'));
after(() => rmSync(folder, { recursive: true }));

test('the versions are read from go.mod', () => {
  const { go, kubernetes, etcd, kwok } = pins();
  assert.match(go, /^1\.\d+/);
  for (const version of [kubernetes, etcd, kwok]) assert.match(version, /^v\d+\.\d+\.\d+$/);
});

test('a go.mod without a version is refused by name', () => {
  assert.throws(() => pinsOf('go 1.26.0\n'), /no version of k8s\.io\/kubernetes/);
});

test('the programs carry the version they are built from', () => {
  const args = buildArguments('kube-apiserver', '/x', { go: '', kubernetes: 'v1.2.3', etcd: '', kwok: '' }).join(' ');
  assert.match(args, /gitVersion=v1\.2\.3 .*gitMajor=1 .*gitMinor=2/);
  assert.match(args, /-mod=readonly/);
});

test('another platform has other programs', () => {
  assert.equal(programsKey('linux-x64'), programsKey('linux-x64'));
  assert.notEqual(programsKey('linux-x64'), programsKey('linux-arm64'));
});

for (const [a, b, older] of [
  ['1.19', '1.26.0', true],
  ['1.26', '1.26.0', false],
  ['1.26.0', '1.26.1', true],
  ['1.27.0', '1.26.8', false],
  ['2.0', '1.26', false],
] as const) {
  test(`${a} ${older ? 'is' : 'is not'} older than ${b}`, () => assert.equal(olderThan(a, b), older));
}

test('without Go the error says what to install, in commands', () => {
  const { go } = pins();
  assert.throws(
    () => requireGo({ PATH: '/nowhere' }, 'linux-x64'),
    (error: Error) => {
      assert.ok(error.message.startsWith(`Go ${go} or newer is needed`), error.message);
      assert.match(error.message, /there is no `go` on the PATH/);
      assert.ok(error.message.includes(`https://go.dev/dl/go${go}.linux-amd64.tar.gz`), error.message);
      return true;
    },
  );
});

test('a Go that is too old is named', () => {
  const bin = mkdtempSync(join(folder, 'bin-'));
  writeFileSync(join(bin, 'go'), '#!/bin/sh\necho go version go1.19.8 linux/amd64\n', { mode: 0o755 });
  assert.throws(() => requireGo({ PATH: bin }, 'linux-x64'), /the `go` on the PATH is 1\.19\.8/);
});

test('the lock is held by one at a time', async () => {
  const path = join(folder, 'one.sock');
  const log: string[] = [];
  const work = (name: string) =>
    withLock(
      path,
      () => log.push(`${name} waits`),
      async () => {
        log.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 50));
        log.push(`${name} ends`);
      },
    );
  await Promise.all([work('first'), work('second')]);
  assert.deepEqual(log, ['first begins', 'second waits', 'first ends', 'second begins', 'second ends']);
});

test('the lock is free after work that failed', async () => {
  const path = join(folder, 'two.sock');
  await assert.rejects(
    withLock(
      path,
      () => {},
      () => Promise.reject(new Error('no')),
    ),
  );
  assert.equal(
    await withLock(
      path,
      () => {},
      () => Promise.resolve('free'),
    ),
    'free',
  );
});

for (const address of [join(folder, 'three.sock'), ...(process.platform === 'linux' ? [`\0${folder}/four`] : [])]) {
  test(`a holder that is killed leaves no lock at ${JSON.stringify(address.slice(0, 1))}`, async () => {
    const script = `const { withLock } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))});
      await withLock(${JSON.stringify(address)}, () => {}, () => { console.log('held'); return new Promise((r) => setTimeout(r, 60000)); });`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    const waiting = withLock(
      address,
      () => holder.kill('SIGKILL'),
      () => Promise.resolve('mine'),
    );
    assert.equal(await waiting, 'mine');
  });
}
