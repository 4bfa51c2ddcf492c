// `make node-programs`: builds the programs of real nodes, unless none can run here. With names it builds those alone.

import { wordsOf } from '../../src/base/index.ts';
import { thisMachine } from '../machine.ts';
import { agentPackages } from '../versions/modules.ts';
import { nodeProgramNames } from '../versions/node.ts';
import { type NodeProgram, nodePrograms } from './programs.ts';
import { whyNot } from './support.ts';

const all = [...nodeProgramNames, ...(Object.keys(agentPackages) as NodeProgram[])];
const asked = process.argv.slice(2) as NodeProgram[];
const say = (line: string) => process.stdout.write(`${line}\n`);

async function build(): Promise<void> {
  const strangers = asked.filter((name) => !all.includes(name));
  if (strangers.length > 0) throw new Error(`no such program: ${strangers.join(', ')}; there are ${all.join(', ')}`);
  const machine = thisMachine();
  const reason = asked.length === 0 && (await whyNot(machine, say));
  if (reason) return void say(`real nodes cannot run here, so their programs are not built: ${reason}`);
  const paths = await nodePrograms(asked.length > 0 ? asked : all, say, machine);
  for (const [name, path] of Object.entries(paths)) say(`${name}: ${path}`);
}

try {
  await build();
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exitCode = 1;
}
