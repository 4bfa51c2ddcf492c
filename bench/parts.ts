// The parts of the bench under their names, each with all that it needs: those about the engine get a control plane of their
// own, so that neither finds what the other left, and Go programs to compare with; the others bring their own servers.

import { benchCache } from './cache/index.ts';
import { compiled } from './compiled.ts';
import { benchDownload } from './download/index.ts';
import { type Figure, figureTable } from './figures.ts';
import { benchModels } from './models/index.ts';
import { modelsFigures, modelsTable } from './models/report.ts';
import { type Peers, peers } from './peers.ts';
import { type BenchPlane, startBenchPlane } from './plane.ts';
import { benchRegistry } from './registry/index.ts';
import { cacheFigures, cacheTable, writesFigures, writesTable } from './report.ts';
import { benchServe } from './serve/index.ts';
import { benchWrites } from './writes/index.ts';

/** How much is measured. */
export interface Amount {
  /** Each has five children. */
  parents: number;
  /** In each round and with each number of workers. */
  writes: number;
  /** Of the file that is downloaded and of the image. */
  mebibytes: number;
  /** Of load on the model server, in each round and scenario. */
  seconds: number;
  /** That are made Ready, and to which number they then grow. */
  models: number;
  grown: number;
  /** Seconds of rest among models that are Ready. */
  steady: number;
  rounds: number;
  /** Milliseconds between a filled cache and the look at its memory. */
  rest: number;
  /** Without the programs of others that take long to build or install. */
  alone: boolean;
}

/** What came of a part. */
export interface Outcome {
  figures: Figure[];
  /** Everything that was measured, round by round. */
  result: object;
  /** What a person reads. */
  text: string;
}

type Say = (line: string) => void;

/** A part. */
export type Part = (amount: Amount, say: Say) => Promise<Outcome>;

interface Engine {
  plane: BenchPlane;
  peers: Partial<Peers>;
  compiled: (source: string) => string;
}

/** A part about the engine. */
const engine =
  (measure: (engine: Engine, amount: Amount, say: Say) => Promise<Outcome>): Part =>
  async (amount, say) => {
    const programs = { compiled: compiled(), peers: amount.alone ? {} : await peers(say) };
    await using plane = await startBenchPlane();
    return await measure({ plane, ...programs }, amount, say); // the plane goes when this is over, not before
  };

const cache = engine(async ({ plane, peers: { cache: peer }, compiled: place }, { parents, rounds, rest }, say) => {
  const result = await benchCache(plane, { parents, rounds, rest, peer, compiled: place, say });
  return { figures: cacheFigures(result), result, text: cacheTable(result) };
});

const writes = engine(async ({ plane, peers: { writes: peer }, compiled: place }, { writes: count, rounds }, say) => {
  const amount = { writes: count, rounds, warmUp: Math.ceil(count / 2), workers: [1, 10, 20] };
  const result = await benchWrites(plane, { ...amount, peer, compiled: place, say });
  return { figures: writesFigures(result), result, text: writesTable(result) };
});

const told = (title: string, rounds: number, { figures, turns }: { figures: Figure[]; turns: object }): Outcome => ({
  figures,
  result: turns,
  text: `${title}, medians of ${rounds} rounds\n${figureTable(figures)}`,
});

const download: Part = async ({ rounds, mebibytes }, say) =>
  told(
    `Download: ${mebibytes.toLocaleString('en')} MiB`,
    rounds,
    await benchDownload({ rounds, bytes: mebibytes * 2 ** 20, say }),
  );

const registry: Part = async ({ rounds, mebibytes }, say) =>
  told(
    `Registry: an image of ${mebibytes.toLocaleString('en')} MiB`,
    rounds,
    await benchRegistry({ rounds, bytes: mebibytes * 2 ** 20, say }),
  );

const serve: Part = async ({ rounds, seconds, alone }, say) =>
  told(`Serve: a small model, ${seconds} s each`, rounds, await benchServe({ rounds, seconds, alone, say }));

const models: Part = async ({ models: count, grown, rounds, steady, alone }, say) => {
  const { operator, chain }: Partial<Peers> = alone ? {} : await peers(say);
  const amount = { models: count, grown, rounds, steady };
  const result = await benchModels({ ...amount, operator, chain, compiled: compiled(), say });
  return { figures: modelsFigures(result), result, text: modelsTable(result) };
};

/** All parts, in the order in which they run. */
export const parts: Readonly<Record<string, Part>> = { cache, writes, download, registry, serve, models };
