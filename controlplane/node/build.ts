// `make node-programs`: builds the programs of a real node, or those that are named, or says that they are there.

import { wordsOf } from '../../src/base/index.ts';
import { thisMachine } from '../machine.ts';
import { agentPackages } from '../versions/modules.ts';
import { nodeProgramNames } from '../versions/node.ts';
import { type NodeProgram, nodePrograms } from './programs.ts';

const all = [...nodeProgramNames, ...(Object.keys(agentPackages) as NodeProgram[])];
const asked = process.argv.slice(2) as NodeProgram[];
const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  const paths = await nodePrograms(asked.length > 0 ? asked : all, say, thisMachine());
  for (const [name, path] of Object.entries(paths)) say(`${name}: ${path}`);
} catch (error) {
  process.stderr.write(`${wordsOf(error)}\n`);
  process.exitCode = 1;
}
