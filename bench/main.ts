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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    parents: { type: 'string', default: '10000' },
    writes: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    rest: { type: 'string', default: '15000' },
    alone: { type: 'boolean', default: false },
    out: { type: 'string', default: join(import.meta.dirname, '..', 'build', 'bench.json') },
  },
});
const inJavaScript = compiled();
const say = (line: string) => void process.stderr.write(`${line}\n`);

const parts = {
  cache: async (plane: BenchPlane, { cache: peer }: Partial<Peers>) => {
    const { parents, rounds, rest } = values;
    const sizes = { parents: Number(parents), rounds: Number(rounds), rest: Number(rest) };
    const result = await benchCache(plane, { ...sizes, peer, compiled: inJavaScript, say });
    return { result, text: cacheTable(result) };
  },
  writes: async (plane: BenchPlane, { writes: peer }: Partial<Peers>) => {
    const sizes = { writes: Number(values.writes), rounds: Number(values.rounds) };
    const warmUp = Math.ceil(sizes.writes / 2);
    const result = await benchWrites(plane, {
      ...sizes,
      warmUp,
      workers: [1, 10, 20],
      peer,
      compiled: inJavaScript,
      say,
    });
    return { result, text: writesTable(result) };
  },
};
type Part = keyof typeof parts;
const isPart = (name: string): name is Part => name in parts;

/** Each part on a control plane of its own, so that neither finds what the other left. */
async function run(name: Part, programs: Partial<Peers>): Promise<unknown> {
  await using plane = await startBenchPlane();
  const { result, text } = await parts[name](plane, programs);
  process.stdout.write(`\n${text}\n\n`);
  return result;
}

const unknown = positionals.find((name) => !isPart(name));
if (unknown !== undefined)
  throw new Error(`there is no part ${unknown}: it is one of ${Object.keys(parts).join(', ')}`);
const chosen = positionals.length > 0 ? positionals.filter(isPart) : (Object.keys(parts) as Part[]);
const programs = values.alone ? {} : await peers(say);
const results: Record<string, unknown> = {};
for (const name of chosen) results[name] = await run(name, programs);
mkdirSync(dirname(values.out), { recursive: true });
writeFileSync(values.out, `${JSON.stringify(results, undefined, 2)}\n`);
say(`written: ${values.out}`);
