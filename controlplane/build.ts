// `make controlplane`: builds the programs of the control plane, or says that they are there.

import { wordsOf } from '../src/base/index.ts';
import { thisMachine } from './machine.ts';
import { missing, programs, programsFolder } from './programs.ts';
import { pins } from './versions/modules.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  const machine = thisMachine();
  const before = missing(machine).length;
  await programs(say, machine);
  const { kubernetes, etcd, kwok } = pins();
  const what = `Kubernetes ${kubernetes}, etcd ${etcd}, kwok ${kwok}`;
  say(`${before === 0 ? 'already built' : 'built'}: ${what} in ${programsFolder(machine)}`);
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exitCode = 1;
}
