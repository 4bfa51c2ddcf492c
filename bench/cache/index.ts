// The same objects in our cache and in controller-runtime's, each filled by a fresh process from the same API server:
// what the whole process weighs afterwards, how long it takes, what it costs, and for how long our event loop stands still.

import { join } from 'node:path';
import { Measured, type Memory } from '../measured.ts';
import { familyKinds } from '../objects.ts';
import type { BenchPlane } from '../plane.ts';
import { load, wireSizes } from './load.ts';

/** Our program beside this file, before it is compiled. */
const ours = join(import.meta.dirname, 'ours.ts');

/**
 * How an operator should be started. Node gives a young generation of up to 128 MB to everybody; an operator's garbage is
 * small, and what it keeps it keeps for long. `--expose-gc` is only for the question what is left after a collection.
 */
const flags = ['--max-semi-space-size=4', '--expose-gc'];

export interface CacheOptions {
  /** Our Go peer; without it only our own side runs. */
  peer: string | undefined;
  /** Where a source of ours is once it is compiled. */
  compiled: (source: string) => string;
  parents: number;
  rounds: number;
  /** Milliseconds of peace before the memory is read, in which a garbage collector may do what it does by itself. */
  rest: number;
  say: (line: string) => void;
}

/** One filled cache. Memory in MiB, times in milliseconds. */
export interface Filled {
  /** The whole process after a rest. */
  rss: number;
  /** The same after a garbage collection that we asked for. */
  collected: number;
  peak: number;
  /** From the start of the process to the last whole view. */
  synced: number;
  /** CPU time of all threads until then. */
  cpu: number;
  /** The longest turn of our event loop until every object had its first pass. */
  stall?: number;
  /** The most CPU time that our thread itself spent in a turn. */
  work?: number;
  /** From the start of the process until every object had its first pass. */
  passed?: number;
}

export interface CacheResult {
  parents: number;
  children: number;
  /** Bytes of one object of each kind on the wire. */
  wire: Record<string, number>;
  ours: Filled[];
  go: Filled[];
  /** Go again, with a transform that drops managedFields. */
  goStripped: Filled[];
}

/** Loads the API server, then fills the caches in turns. */
export async function benchCache({ plane, client }: BenchPlane, options: CacheOptions): Promise<CacheResult> {
  const { parents, rounds, peer, say } = options;
  const began = performance.now();
  await load(client, parents, say);
  say(`cache: loaded in ${Math.round((performance.now() - began) / 1_000)} s`);
  const result: CacheResult = {
    parents,
    children: parents * familyKinds.length,
    wire: await wireSizes(client),
    ours: [],
    go: [],
    goStripped: [],
  };
  const { kubeconfigPath } = plane;
  const program = options.compiled(ours);
  for (let round = 0; round < rounds; round++) {
    say(`cache: round ${round + 1} of ${rounds}`);
    result.ours.push(await fill(process.execPath, [...flags, program, kubeconfigPath, String(parents)], options));
    if (!peer) continue;
    result.go.push(await fill(peer, ['-kubeconfig', kubeconfigPath], options));
    result.goStripped.push(await fill(peer, ['-kubeconfig', kubeconfigPath, '-strip'], options));
  }
  return result;
}

interface Said {
  objects: number;
  ms: number;
  cpu: number;
  stall?: number;
  work?: number;
  passed?: number;
}

async function fill(program: string, args: string[], { parents, rest }: CacheOptions): Promise<Filled> {
  await using measured = new Measured(program, args);
  const said = await measured.said<Said>();
  const expected = parents * (1 + familyKinds.length);
  if (said.objects !== expected) throw new Error(`${program} holds ${said.objects} objects instead of ${expected}`);
  await new Promise((resolve) => setTimeout(resolve, rest));
  const { rss, peak }: Memory = measured.memory();
  await measured.ask('collect');
  await new Promise((resolve) => setTimeout(resolve, Math.min(rest, 2_000)));
  const collected = measured.memory().rss;
  const { objects: _, ms: synced, ...others } = said;
  return { rss, collected, peak, synced, ...others };
}
