import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cgroupOf, cgroupVersion, controllers, whyNotHandedOn } from './cgroups.ts';

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

const inContainer = { 'cgroup.controllers': 'cpu cpuset memory pids', 'cgroup.type': 'domain' };

test('a group of version 2 that holds processes cannot hand on what it did not before', () => {
  const full = tree('full', { ...inContainer, 'cgroup.subtree_control': 'cpu', 'cgroup.procs': '1\n' });
  assert.match(whyNotHandedOn(full) ?? '', /holds processes and so cannot hand on cpuset, memory, pids/);
  const empty = tree('empty', { ...inContainer, 'cgroup.subtree_control': 'cpu', 'cgroup.procs': '' });
  assert.equal(whyNotHandedOn(empty), undefined);
  const before = tree('before', {
    ...inContainer,
    'cgroup.subtree_control': 'cpu cpuset memory pids',
    'cgroup.procs': '1',
  });
  assert.equal(whyNotHandedOn(before), undefined);
});

test('the root of a machine hands on whatever it holds', () => {
  const at = tree('machine', { 'cgroup.controllers': 'cpu', 'cgroup.subtree_control': '', 'cgroup.procs': '1 2' });
  assert.equal(whyNotHandedOn(at), undefined);
});

test('a machine without cgroups has no controllers', () => assert.deepEqual(controllers(join(root, 'none')), []));

test('the group of a node is in the group of its cluster', () => {
  assert.equal(cgroupOf('/tmp/baton-controlplane-7-x', 'node-2'), '/baton-controlplane-7-x/node-2');
});
