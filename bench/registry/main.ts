// The registry bench by itself: `node bench/registry/main.ts [--rounds 3] [--mebibytes 1024]`.

import { parseArgs } from 'node:util';
import { figureTable } from '../table.ts';
import { benchRegistry } from './index.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, mebibytes: { type: 'string', default: '1024' } },
});
const { figures } = await benchRegistry({
  rounds: Number(values.rounds),
  bytes: Number(values.mebibytes) * 1024 * 1024,
  say: (line) => void process.stderr.write(`${line}\n`),
});
process.stdout.write(`${figureTable(figures)}\n`);
