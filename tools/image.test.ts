// One image, several programs: what the Dockerfile starts, what the manifests and the controller put into pods, and what
// the entrypoint makes of it agree.

import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { downloadArguments } from '../src/api/index.ts';
import { frameworks } from '../src/controllers/mlmodel/index.ts';
import { version } from '../src/operator/index.ts';
import { deployment } from './install/operator.ts';

const root = join(import.meta.dirname, '..');

/** The words of an instruction of the Dockerfile that is written as a list. */
function instruction(name: string): string[] {
  const [, list = '[]'] =
    new RegExp(`^${name} (\\[.*\\])$`, 'm').exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
  return JSON.parse(list) as string[];
}

const run = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'src/main.ts'), ...args], { encoding: 'utf8', timeout: 60_000 });

test('the image starts the entrypoint, and without more words the operator', () => {
  deepEqual(instruction('ENTRYPOINT'), ['/usr/local/bin/node', '/baton/main.mjs']);
  deepEqual(instruction('CMD'), ['operator']);
});

interface Containers {
  template: { spec: { containers: { command?: string[]; args: string[] }[] } };
}

test('the Deployment of the operator leaves the entrypoint as it is and names the operator', () => {
  const { spec } = deployment({ image: 'baton:test', namespaces: [] }) as unknown as { spec: Containers };
  const [container] = spec.template.spec.containers;
  equal(container?.command, undefined);
  equal(container?.args[0], 'operator');
});

test('the operator starts by its name, with its own arguments', () => {
  const { stdout, status } = run('operator', '--version');
  equal(stdout, `${version}\n`);
  equal(status, 0);
});

test('a program that is not in the image ends with a line that says so', () => {
  for (const name of ['constructor', 'uplaod']) {
    const { status, stderr } = run(name);
    match(
      stderr,
      new RegExp(`^error: there is no program "${name}": it is one of operator, download, inspect, serve\n`),
    );
    equal(status, 2);
  }
  match(run().stderr, /^error: no program is named\n/);
});

test('what the controller puts into pods names a program of the image', () => {
  const order = downloadArguments({ url: 'file:///a', target: '/weights', framework: 'onnx' });
  for (const args of [order, [...frameworks('baton:test').onnx.args, '--model=/nowhere']]) {
    const { stderr } = run(...args);
    doesNotMatch(stderr, /no program/);
  }
});
