import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cgroupOf, cgroupVersion, controllers } from './cgroups.ts';

const root = mkdtempSync(join(tmpdir(), 'baton-cgroups-'));
after(() => rmSync(root, { recursive: true }));

function tree(name: string, files: Record<string, string>): string {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(root, name, file, '..'), { recursive: true });
    writeFileSync(join(root, name, file), text);
  }
  return join(root, name);
}

test('version 1 has a folder for each controller, or for several', () => {
  const at = tree('one', { 'cpu,cpuacct/cgroup.procs': '', 'memory/cgroup.procs': '' });
  assert.equal(cgroupVersion(at), 1);
  assert.deepEqual(controllers(at).toSorted(), ['cpu', 'cpuacct', 'memory']);
});

test('version 2 lists its controllers in a file', () => {
  const at = tree('two', { 'cgroup.controllers': 'cpuset cpu io memory pids\n' });
  assert.equal(cgroupVersion(at), 2);
  assert.deepEqual(controllers(at), ['cpuset', 'cpu', 'io', 'memory', 'pids']);
});

test('a machine without cgroups has no controllers', () => assert.deepEqual(controllers(join(root, 'none')), []));

test('the group of a node is in the group of its cluster', () => {
  assert.equal(cgroupOf('/tmp/baton-controlplane-7-x', 'node-2'), '/baton-controlplane-7-x/node-2');
});
