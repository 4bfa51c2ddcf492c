import { deepEqual, equal, match } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const baton = (...args: string[]) => {
  const options = { encoding: 'utf8', timeout: 30_000 } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'main.ts'), ...args],
    options,
  );
  return { status, stdout, stderr };
};

test('a program is run as if it had been called by itself', () => {
  const { status, stdout } = baton('operator', '--version');
  deepEqual([status, stdout], [0, '0.1.0\n']);
});

test('the errors of a program are its own', () => {
  for (const program of ['operator', 'download', 'inspect', 'serve']) {
    const { status, stderr } = baton(program, '--nonsense');
    equal(status, 2, `${program}: ${stderr}`);
    match(stderr, /^error: .*nonsense/m);
  }
});

test('a program that does not exist is named, with those that do', () => {
  for (const name of ['server', 'toString', '__proto__']) {
    const { status, stderr } = baton(name);
    equal(status, 2);
    match(stderr, new RegExp(`^error: there is no program "${name}": it is one of operator, download, inspect, serve`));
  }
  deepEqual([baton().status, baton('--help').status], [2, 0]);
  match(baton().stderr, /no program is named/);
});
