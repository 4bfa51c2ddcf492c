// What the parts about the engine measured: for people side by side with Go, and for programs as figures with their goals.

import type { CacheResult, Filled } from './cache/index.ts';
import { atMost, type Figure } from './figures.ts';
import { familyKinds } from './objects.ts';
import { figure, median, table } from './table.ts';
import type { WritesResult } from './writes/index.ts';

interface Row {
  name: string;
  unit: 'MiB' | 'ms';
  field: keyof Filled;
  /** Goals for the value, and for its ratio to Go. */
  most?: number;
  mostToGo?: number;
}

const cacheRows: readonly Row[] = [
  { name: 'memory after a rest', unit: 'MiB', field: 'rss', most: 250, mostToGo: 0.5 },
  { name: 'memory after a collection', unit: 'MiB', field: 'collected', most: 250, mostToGo: 0.5 },
  { name: 'most memory', unit: 'MiB', field: 'peak' },
  { name: 'time to synced', unit: 'ms', field: 'synced' },
  { name: 'CPU to synced', unit: 'ms', field: 'cpu' },
  { name: 'time to all first passes', unit: 'ms', field: 'passed' },
  { name: 'longest turn of the event loop', unit: 'ms', field: 'stall', most: 50 },
  { name: 'most CPU time in a turn', unit: 'ms', field: 'work' },
];

const writesGoals = { cpu: 1, wall: 1.05 };

/** The cache bench as figures. */
export const cacheFigures = (result: CacheResult): Figure[] => cacheRows.flatMap((row) => figuresOf(row, result));

function figuresOf({ name, unit, field, most, mostToGo }: Row, { ours, go, goStripped }: CacheResult): Figure[] {
  const [mine, theirs, stripped] = [ours, go, goStripped].map((all) => middle(all, field));
  const told = (what: string, value: number | undefined, of: string, limit?: number): Figure[] => {
    if (value === undefined) return [];
    const plain = { name: `cache: ${name}${what}`, value, unit: of };
    return [limit === undefined ? plain : atMost(limit, plain)];
  };
  return [
    ...told('', mine, unit, most),
    ...told(', Go', theirs, unit),
    ...told(', Go, stripped', stripped, unit),
    ...told(' to Go', quotient(mine, theirs), 'ratio', mostToGo),
    ...told(' to Go, stripped', quotient(mine, stripped), 'ratio'),
  ];
}

/** The cache bench as a table. */
export function cacheTable({ parents, children, wire, ours, go, goStripped }: CacheResult): string {
  const sizes = Object.entries(wire).map(([kind, bytes]) => `${kind} ${(bytes / 1_000).toFixed(1)}`);
  const mean = familyKinds.reduce((sum, { kind }) => sum + (wire[kind] ?? 0), 0) / familyKinds.length;
  const cells = ({ name, unit, field, most, mostToGo }: Row) => {
    const [mine, theirs, stripped] = [ours, go, goStripped].map((all) => middle(all, field));
    const ratios = [quotient(mine, theirs), quotient(mine, stripped)].map(figure);
    const goal = [most === undefined ? '' : `<= ${most}`, mostToGo === undefined ? '' : `ratio <= ${mostToGo}`];
    const told = goal.filter((one) => one !== '').join(', ');
    return [`${name}, ${unit}`, figure(mine), figure(theirs), ratios[0] ?? '', figure(stripped), ratios[1] ?? '', told];
  };
  return [
    `Cache: ${parents.toLocaleString('en')} parents and ${children.toLocaleString('en')} children`,
    `KB on the wire: ${sizes.join(', ')}; the mean child ${(mean / 1_000).toFixed(1)}`,
    table([['', 'ours', 'Go', 'ratio', 'Go, stripped', 'ratio', 'goal'], ...cacheRows.map(cells)]),
  ].join('\n');
}

const middle = (all: readonly Filled[], field: keyof Filled): number | undefined => {
  const values = all.map((one) => one[field]).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : median(values);
};

const quotient = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a / b;

/** The writes bench as figures. */
export const writesFigures = ({ summary }: WritesResult): Figure[] =>
  summary.flatMap(({ workers, ours, go, cpuRatio, wallRatio }) => {
    const named = (name: string, value: number, unit: string): Figure => ({
      name: `writes, ${workers === 1 ? '1 worker' : `${workers} workers`}: ${name}`,
      value,
      unit,
    });
    const mine = [named('CPU a write', ours.cpu, 'us'), named('writes a second', ours.rate, '1/s')];
    if (go === undefined || cpuRatio === undefined || wallRatio === undefined) return mine;
    return [
      ...mine,
      named('CPU a write, Go', go.cpu, 'us'),
      named('writes a second, Go', go.rate, '1/s'),
      atMost(writesGoals.cpu, named('CPU to Go', cpuRatio, 'ratio')),
      atMost(writesGoals.wall, named('time to Go', wallRatio, 'ratio')),
    ];
  });

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
        `<= ${writesGoals.cpu}`,
        figure(ours.rate),
        figure(go?.rate),
        figure(wallRatio),
        `<= ${writesGoals.wall}`,
      ]),
    ]),
  ].join('\n');
}
