// `make bench`: measures us side by side with others, prints ratios and goals, and writes all figures to build/bench.json, and
// every round of them beside it. `node bench/main.ts cache`, or another name of a part, runs that one. It never fails because
// something is slow: it measures.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { wordsOf } from '../src/base/index.ts';
import { type Figure, figureList, goalTable } from './figures.ts';
import { type Amount, parts } from './parts.ts';

const options = {
  parents: { type: 'string', default: '10000' },
  writes: { type: 'string', default: '5000' },
  mebibytes: { type: 'string', default: '1024' },
  seconds: { type: 'string', default: '3' },
  models: { type: 'string', default: '1000' },
  grown: { type: 'string', default: '4000' },
  steady: { type: 'string', default: '60' },
  rounds: { type: 'string', default: '3' },
  rest: { type: 'string', default: '5000' },
  alone: { type: 'boolean', default: false },
  out: { type: 'string', default: join(import.meta.dirname, '..', 'build', 'bench.json') },
} as const;

const say = (line: string) => void process.stderr.write(`${line}\n`);

function chosen(names: readonly string[]): string[] {
  const known = Object.keys(parts);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}: it is one of ${known.join(', ')}`);
  return known.filter((name) => names.length === 0 || names.includes(name));
}

function asked(): { amount: Amount; names: string[]; out: string } {
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const { alone, out, ...sizes } = values;
  const count = (name: keyof typeof sizes): number => Number(sizes[name]);
  const amount: Amount = {
    parents: count('parents'),
    writes: count('writes'),
    mebibytes: count('mebibytes'),
    seconds: count('seconds'),
    models: count('models'),
    grown: count('grown'),
    steady: count('steady'),
    rounds: count('rounds'),
    rest: count('rest'),
    alone,
  };
  return { amount, names: chosen(positionals), out };
}

async function bench(): Promise<void> {
  const { amount, names, out } = asked();
  const figures: Figure[] = [];
  const rounds: Record<string, object> = {};
  for (const name of names) {
    const outcome = await parts[name]?.(amount, say);
    if (!outcome) continue;
    process.stdout.write(`\n${outcome.text}\n\n`);
    figures.push(...outcome.figures);
    rounds[name] = outcome.result;
    write(out, figures, rounds); // a run that is stopped later keeps this
  }
  process.stdout.write(`${goalTable(figures)}\n`);
  say(`written: ${out}, ${besides(out)}`);
}

/** Where every round is written. */
const besides = (out: string): string => out.replace(/(\.json)?$/, '-rounds.json');

function write(out: string, figures: readonly Figure[], rounds: object): void {
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, figureList(figures));
  writeFileSync(besides(out), `${JSON.stringify(rounds, undefined, 2)}\n`);
}

try {
  await bench();
} catch (error) {
  say(wordsOf(error));
  process.exitCode = 1;
}
