// The download bench by itself: `node bench/download/main.ts [--rounds 3] [--mebibytes 1024]`.

import { parseArgs } from 'node:util';
import { figure, table } from '../table.ts';
import { benchDownload } from './index.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, mebibytes: { type: 'string', default: '1024' } },
});
const { figures } = await benchDownload({
  rounds: Number(values.rounds),
  bytes: Number(values.mebibytes) * 1024 * 1024,
  say: (line) => void process.stderr.write(`${line}\n`),
});
const rows = figures.map(({ name, value, unit, goal = '', met }) => [
  name,
  figure(value),
  unit,
  goal,
  met === undefined ? '' : met ? 'met' : 'missed',
]);
process.stdout.write(`${table([['', 'value', 'unit', 'goal', ''], ...rows])}\n`);
