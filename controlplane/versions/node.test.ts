import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderOfModule, moduleKey, moduleOf, nodeBuildOf, nodePackages, nodeProgramNames, versionOf } from './node.ts';

test('containerd and runc tell the versions that are pinned', () => {
  for (const name of ['containerd', 'runc'] as const) {
    const flags = nodeBuildOf(name, {}).arguments('/x').join(' ');
    assert.ok(flags.includes(`ersion=${versionOf(name).slice(1)}`), flags);
  }
});

test('only runc is compiled with C, where the library is that it is given', () => {
  const library = { CGO_LDFLAGS: '-L/lib' };
  for (const name of nodeProgramNames) {
    const { environment } = nodeBuildOf(name, library);
    assert.deepEqual(environment, name === 'runc' ? { CGO_ENABLED: '1', ...library } : undefined);
  }
  assert.match(nodeBuildOf('runc', {}).arguments('/x').join(' '), /-tags seccomp\S* .*-extldflags -static/);
});

test('every program belongs to a module, and those that are ours have their source', () => {
  for (const name of nodeProgramNames) assert.ok(name in nodePackages[moduleOf(name)]);
  const own = Object.values(nodePackages.node).filter((path) => path.startsWith('baton.dev/node/'));
  assert.ok(own.length >= 4);
  for (const path of own) {
    const folder = path.replace('baton.dev/node/', '');
    assert.ok(existsSync(join(folderOfModule('node'), folder, 'main.go')), folder);
  }
});

test('another platform or another module has other programs', () => {
  assert.equal(moduleKey('node', 'linux-x64'), moduleKey('node', 'linux-x64'));
  assert.notEqual(moduleKey('node', 'linux-x64'), moduleKey('node', 'linux-arm64'));
  assert.match(moduleKey('s3', 'linux-x64'), /^v1\.\d+\.\d+-[0-9a-f]{12}$/);
});
