// Server-side applies through our client and through client-go's dynamic client: the same objects on the same server,
// both programs warmed up alike, and in short turns, so that what else the machine does meets both.

import { join } from 'node:path';
import { Measured } from '../measured.ts';
import { deployment, parent } from '../objects.ts';
import { type BenchPlane, makeNamespace } from '../plane.ts';
import { median } from '../table.ts';
import type { Run, Taken } from './run.ts';

/** Our program beside this file, before it is compiled. */
const ours = join(import.meta.dirname, 'ours.ts');
const namespace = 'bench-writes';

export interface WritesOptions {
  /** Our Go peer; without it only our own side runs. */
  peer: string | undefined;
  /** Where a source of ours is once it is compiled. */
  compiled: (source: string) => string;
  writes: number;
  warmUp: number;
  rounds: number;
  workers: readonly number[];
  say: (line: string) => void;
}

/** One round with one number of workers; times in milliseconds. */
export interface Round {
  workers: number;
  ours: Taken;
  go?: Taken;
}

/** The medians over all rounds: CPU per write in microseconds, writes a second, and our ratios to Go. */
export interface WritesSummary {
  workers: number;
  ours: { cpu: number; rate: number };
  go?: { cpu: number; rate: number };
  cpuRatio?: number;
  wallRatio?: number;
}

export interface WritesResult {
  writes: number;
  rounds: Round[];
  summary: WritesSummary[];
}

/** Runs all rounds. */
export async function benchWrites({ plane, client }: BenchPlane, options: WritesOptions): Promise<WritesResult> {
  await makeNamespace(client, namespace);
  await using mine = new Measured(process.execPath, [options.compiled(ours), plane.kubeconfigPath]);
  await using peer = options.peer ? new Measured(options.peer, ['-kubeconfig', plane.kubeconfigPath]) : undefined;
  const sides = [mine, ...(peer ? [peer] : [])];
  for (const [index, side] of sides.entries())
    await apply(side, { writes: options.warmUp, workers: 10, label: `warm-up-${index}` });
  const rounds: Round[] = [];
  for (let round = 0; round < options.rounds; round++) {
    options.say(`writes: round ${round + 1} of ${options.rounds}`);
    for (const workers of options.workers) rounds.push(await oneRound(sides, { round, workers, options }));
  }
  const summary = options.workers.map((workers) => summarise(workers, rounds, options.writes));
  return { writes: options.writes, rounds, summary };
}

interface Turn {
  round: number;
  workers: number;
  options: WritesOptions;
}

/** A round goes in so many turns of each side; who goes first changes with every turn. */
const turns = 10;

const nothing: Taken = { ms: 0, cpu: 0 };

async function oneRound(sides: Measured[], { round, workers, options }: Turn): Promise<Round> {
  const taken = new Map(sides.map((side) => [side, nothing]));
  const writes = Math.ceil(options.writes / turns);
  for (let turn = 0; turn < turns; turn++)
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
      const label = `${round}-${workers}-${turn}-${sides.indexOf(side)}`;
      const { ms, cpu } = await apply(side, { writes, workers, label });
      const before = taken.get(side) ?? nothing;
      taken.set(side, { ms: before.ms + ms, cpu: before.cpu + cpu });
    }
  const [mine = nothing, go] = taken.values();
  return { workers, ours: mine, ...(go && { go }) };
}

/** A multiple of all numbers of workers, so that the objects can be shared out. */
const objects = 500;

function apply(side: Measured, asked: Pick<Run, 'writes' | 'workers' | 'label'>): Promise<Taken> {
  const owner = { ...parent(namespace, 'trio'), metadata: { name: 'trio', namespace, uid: '1-2-3' } };
  const run: Run = { template: deployment(owner, 'server'), objects, ...asked };
  return side.ask<Taken>(JSON.stringify(run));
}

function summarise(workers: number, all: readonly Round[], writes: number): WritesSummary {
  const rounds = all.filter((round) => round.workers === workers);
  const of = (taken: Taken[]) => ({
    cpu: median(taken.map(({ cpu }) => (cpu * 1_000) / writes)),
    rate: median(taken.map(({ ms }) => (writes * 1_000) / ms)),
  });
  const both = rounds.flatMap(({ ours: mine, go }) => (go ? [{ mine, go }] : []));
  const summary = { workers, ours: of(rounds.map((round) => round.ours)) };
  if (both.length === 0) return summary;
  return {
    ...summary,
    go: of(both.map(({ go }) => go)),
    cpuRatio: median(both.map(({ mine, go }) => mine.cpu / go.cpu)),
    wallRatio: median(both.map(({ mine, go }) => mine.ms / go.ms)),
  };
}
