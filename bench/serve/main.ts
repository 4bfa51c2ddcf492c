// The serve bench by itself: `node bench/serve/main.ts [--rounds 3] [--seconds 3] [--alone]`.

import { parseArgs } from 'node:util';
import { figure, table } from '../table.ts';
import { benchServe } from './index.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    /** Without the Python server. */
    alone: { type: 'boolean', default: false },
  },
});
const say = (line: string) => void process.stderr.write(`${line}\n`);
const { figures } = await benchServe({
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  alone: values.alone,
  say,
});
const rows = figures.map(({ name, value, unit, goal = '', met }) => [
  name,
  figure(value),
  unit,
  goal,
  met === undefined ? '' : met ? 'met' : 'missed',
]);
process.stdout.write(`${table([['', 'value', 'unit', 'goal', ''], ...rows])}\n`);
