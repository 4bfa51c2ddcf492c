import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Machine, thisMachine } from './machine.ts';
import { missing, programs, programsFolder } from './programs.ts';
import { programNames } from './versions/modules.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-programs-'));
after(() => rmSync(folder, { recursive: true }));

const program = (path: string) => {
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
};

function machineWith(name: string, assets?: string): Machine {
  const cache = join(folder, name);
  return { ...thisMachine({ BATON_CACHE: cache, PATH: '/nowhere' }), assets };
}

test('the cache is outside the checkout, and the environment may say where', () => {
  assert.equal(thisMachine({ BATON_CACHE: '/a', XDG_CACHE_HOME: '/b' }).cache, '/a');
  assert.equal(thisMachine({ XDG_CACHE_HOME: '/b' }).cache, '/b/baton');
  assert.match(thisMachine({}).cache, /\.cache\/baton$/);
});

test('a machine with neither programs nor Go is told what to install', async () => {
  const machine = machineWith('empty');
  assert.deepEqual(missing(machine), programNames);
  await assert.rejects(
    programs(() => {}, machine),
    /Go .* is needed to build the control plane/,
  );
});

test('programs that are there are used without a word', async () => {
  const machine = machineWith('full');
  mkdirSync(programsFolder(machine), { recursive: true });
  for (const name of programNames) program(join(programsFolder(machine), name));
  const found = await programs((line) => assert.fail(line), machine);
  assert.equal(found.kwok, join(programsFolder(machine), 'kwok'));
});

test('provided programs are used, and only the rest is missing', () => {
  const assets = join(folder, 'assets');
  mkdirSync(assets);
  for (const name of ['etcd', 'kubectl', 'kwok']) program(join(assets, name));
  assert.deepEqual(missing(machineWith('partly', assets)), [
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'kwok',
  ]);
});
