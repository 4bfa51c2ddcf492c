// `make bench`: measures our engine side by side with Go on one control plane, prints ratios and writes build/bench.json.
// `node bench/main.ts cache` or `writes` runs one part. It never fails because something is slow: it measures.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchCache } from './cache/index.ts';
import { compiled } from './compiled.ts';
import { type Peers, peers } from './peers.ts';
import { type BenchPlane, startBenchPlane } from './plane.ts';
import { cacheTable, writesTable } from './report.ts';
import { benchWrites } from './writes/index.ts';

const options = {
  /** Each has five children. */
  parents: { type: 'string', default: '10000' },
  /** In each round and with each number of workers. */
  writes: { type: 'string', default: '5000' },
  rounds: { type: 'string', default: '3' },
  /** Milliseconds between a filled cache and the look at its memory. */
  rest: { type: 'string', default: '5000' },
  /** Without the Go programs. */
  alone: { type: 'boolean', default: false },
  out: { type: 'string', default: join(import.meta.dirname, '..', 'build', 'bench.json') },
} as const;

type Sizes = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

/** What every part is given: its control plane, the sizes, and the programs of both sides. */
interface Setting {
  plane: BenchPlane;
  sizes: Sizes;
  peers: Partial<Peers>;
  compiled: (source: string) => string;
}

const parts = {
  async cache({ plane, sizes, peers: { cache: peer }, compiled: place }: Setting) {
    const [parents, rounds, rest] = [sizes.parents, sizes.rounds, sizes.rest].map(Number) as [number, number, number];
    const result = await benchCache(plane, { parents, rounds, rest, peer, compiled: place, say });
    return { result, text: cacheTable(result) };
  },
  async writes({ plane, sizes, peers: { writes: peer }, compiled: place }: Setting) {
    const [writes, rounds] = [sizes.writes, sizes.rounds].map(Number) as [number, number];
    const amount = { writes, rounds, warmUp: Math.ceil(writes / 2), workers: [1, 10, 20] };
    const result = await benchWrites(plane, { ...amount, peer, compiled: place, say });
    return { result, text: writesTable(result) };
  },
};
type Part = keyof typeof parts;

const say = (line: string) => void process.stderr.write(`${line}\n`);
const isPart = (name: string): name is Part => name in parts;

function chosen(names: string[]): Part[] {
  const unknown = names.find((name) => !isPart(name));
  if (unknown !== undefined)
    throw new Error(`there is no part ${unknown}: it is one of ${Object.keys(parts).join(', ')}`);
  return names.length > 0 ? names.filter(isPart) : (Object.keys(parts) as Part[]);
}

/** Each part on a control plane of its own, so that neither finds what the other left. */
async function run(name: Part, programs: Omit<Setting, 'plane'>): Promise<unknown> {
  await using plane = await startBenchPlane();
  const { result, text } = await parts[name]({ plane, ...programs });
  process.stdout.write(`\n${text}\n\n`);
  return result;
}

async function bench(): Promise<void> {
  const { values: sizes, positionals } = parseArgs({ allowPositionals: true, options });
  const names = chosen(positionals);
  const programs = { sizes, compiled: compiled(), peers: sizes.alone ? {} : await peers(say) };
  const results: Record<string, unknown> = {};
  for (const name of names) results[name] = await run(name, programs);
  mkdirSync(dirname(sizes.out), { recursive: true });
  writeFileSync(sizes.out, `${JSON.stringify(results, undefined, 2)}\n`);
  say(`written: ${sizes.out}`);
}

try {
  await bench();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
