// What was measured, for people: ratios first, goals beside them, and no verdict: machines differ.

import type { CacheResult, Filled } from './cache/index.ts';
import { familyKinds } from './objects.ts';
import { figure, median, table } from './table.ts';
import type { WritesResult } from './writes/index.ts';

/** The goals that the figures stand against. */
const goals = { rss: 250, rssRatio: 0.5, stall: 50, cpuRatio: 1, wallRatio: 1.05 };

/** The cache bench as a table. */
export function cacheTable({ parents, children, wire, ours, go, goStripped }: CacheResult): string {
  const sizes = Object.entries(wire).map(([kind, bytes]) => `${kind} ${(bytes / 1_000).toFixed(1)}`);
  const mean = familyKinds.reduce((sum, { kind }) => sum + (wire[kind] ?? 0), 0) / familyKinds.length;
  const row = (name: string, field: keyof Filled, goal = '') => {
    const [mine, theirs, stripped] = [ours, go, goStripped].map((all) => middle(all, field));
    return [name, figure(mine), figure(theirs), ratio(mine, theirs), figure(stripped), ratio(mine, stripped), goal];
  };
  const half = `<= ${goals.rss}, ratio <= ${goals.rssRatio}`;
  return [
    `Cache: ${parents.toLocaleString('en')} parents and ${children.toLocaleString('en')} children`,
    `KB on the wire: ${sizes.join(', ')}; the mean child ${(mean / 1_000).toFixed(1)}`,
    table([
      ['', 'ours', 'Go', 'ratio', 'Go, stripped', 'ratio', 'goal'],
      row('memory after a rest, MiB', 'rss', half),
      row('memory after a collection, MiB', 'collected', half),
      row('most memory, MiB', 'peak'),
      row('time to synced, ms', 'synced'),
      row('CPU to synced, ms', 'cpu'),
      row('time to all first passes, ms', 'passed'),
      row('longest turn of the event loop, ms', 'stall', `<= ${goals.stall}`),
      row('most CPU time in a turn, ms', 'work'),
    ]),
  ].join('\n');
}

const middle = (all: readonly Filled[], field: keyof Filled): number | undefined => {
  const values = all.map((one) => one[field]).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : median(values);
};

const ratio = (a: number | undefined, b: number | undefined): string =>
  figure(a === undefined || b === undefined ? undefined : a / b);

/** The writes bench as a table. */
export function writesTable({ writes, summary, rounds }: WritesResult): string {
  const each = rounds.length / Math.max(1, summary.length);
  return [
    `Writes: ${writes.toLocaleString('en')} server-side applies, medians of ${each} rounds`,
    table([
      ['workers', 'CPU us/write', 'Go', 'ratio', 'goal', 'writes/s', 'Go', 'time ratio', 'goal'],
      ...summary.map(({ workers, ours, go, cpuRatio, wallRatio }) => [
        String(workers),
        figure(ours.cpu),
        figure(go?.cpu),
        figure(cpuRatio),
        `<= ${goals.cpuRatio}`,
        figure(ours.rate),
        figure(go?.rate),
        figure(wallRatio),
        `<= ${goals.wallRatio}`,
      ]),
    ]),
  ].join('\n');
}
