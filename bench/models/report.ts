// What the turns gave: for people a table of medians with ratios to the Go operator, for programs figures with their goals.

import { atMost, type Figure, figureTable } from '../figures.ts';
import { figure, median, table } from '../table.ts';
import { sumOf } from './audit.ts';
import { type Name, names } from './contestants.ts';
import type { ModelsResult } from './index.ts';
import type { Made, Turn } from './turn.ts';

/** Something that is told of every contestant. */
interface Row {
  name: string;
  unit: string;
  of: (made: Made) => number;
}

/** What the whole cluster had to do. */
export const clusterCpu = ({ own, components }: Made): number => own + sumOf(components);

const rows: readonly Row[] = [
  { name: 'time to Ready', unit: 's', of: ({ ready }) => ready.all },
  { name: 'time to Ready, p50', unit: 's', of: ({ ready }) => ready.p50 },
  { name: 'time to Ready, p99', unit: 's', of: ({ ready }) => ready.p99 },
  { name: 'CPU of the whole cluster', unit: 's', of: clusterCpu },
  { name: 'own CPU', unit: 's', of: ({ own }) => own },
  ...['kube-apiserver', 'etcd', 'kube-controller-manager', 'kube-scheduler', 'kwok'].map((component) => ({
    name: `CPU of ${component}`,
    unit: 's',
    of: ({ components }: Made) => components[component] ?? 0,
  })),
  { name: 'peak memory', unit: 'MiB', of: ({ peak }) => peak },
  { name: 'requests a model', unit: '1', of: ({ asked, models }) => sumOf(asked.requests) / models },
  { name: 'duplicate status writes', unit: '1', of: ({ asked }) => asked.duplicates },
];

const middle = (turns: readonly Turn[] | undefined, of: Row['of']): number | undefined =>
  turns && median(turns.map(({ made }) => of(made)));

const quotient = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a / b;

/** A goal as people read it and as it is judged; nothing where something was not measured. */
const judged = (name: string, value: number | undefined, unit: string, limit: number): Figure[] =>
  value === undefined ? [] : [atMost(limit, { name: `models: ${name}`, value, unit })];

/** Everything as figures. */
export const modelsFigures = (result: ModelsResult): Figure[] => [
  ...ratios(result),
  ...restGoals(result),
  ...growthGoals(result),
  ...names.flatMap((name) =>
    rows.flatMap(({ name: what, unit, of }) => {
      const value = middle(result.turns[name], of);
      return value === undefined ? [] : [{ name: `models: ${what}, ${name}`, value, unit }];
    }),
  ),
];

function ratios({ turns }: ModelsResult): Figure[] {
  const ratio = (what: string, name: Name = 'Baton', to: Name = 'Go') => {
    const { of } = rows.find((row) => row.name === what) ?? { of: () => Number.NaN };
    return quotient(middle(turns[name], of), middle(turns[to], of));
  };
  const chains = [ratio('time to Ready', 'Baton', 'chain'), ratio('time to Ready', 'Baton', 'chain, waiting')];
  const known = chains.filter((one) => one !== undefined);
  const images = middle(turns['Baton, images'], requestsEach);
  return [
    ...judged('time to Ready to Go', ratio('time to Ready'), 'ratio', 1),
    ...judged('time to Ready to the better chain', known.length === 0 ? undefined : Math.max(...known), 'ratio', 1.05),
    ...judged('CPU of the whole cluster to Go', ratio('CPU of the whole cluster'), 'ratio', 0.95),
    ...judged('own CPU to Go', ratio('own CPU'), 'ratio', 1),
    ...judged('peak memory to Go', ratio('peak memory'), 'ratio', 1.5),
    ...judged('requests a model', middle(turns.Baton, requestsEach), '1', 10),
    ...judged(
      'duplicate status writes',
      turns.Baton && Math.max(...turns.Baton.map(({ made }) => made.asked.duplicates)),
      '1',
      0,
    ),
    ...judged('time to Ready to Go, images', ratio('time to Ready', 'Baton, images'), 'ratio', 0.6),
    ...judged(
      'CPU of the whole cluster to Go, images',
      ratio('CPU of the whole cluster', 'Baton, images'),
      'ratio',
      0.6,
    ),
    ...judged('requests a model, images', images, '1', 6),
  ];
}

const requestsEach: Row['of'] = ({ asked, models }) => sumOf(asked.requests) / models;

const first = <T>(turns: readonly Turn[] | undefined, of: (turn: Turn) => T | undefined): T | undefined =>
  turns?.map(of).find((one) => one !== undefined);

function restGoals({ turns }: ModelsResult): Figure[] {
  const rest = first(turns.Baton, (turn) => turn.rest);
  const again = first(turns.Baton, (turn) => turn.restarted);
  const theirs = first(turns.Go, (turn) => turn.restarted);
  return [
    ...judged('requests at rest', rest && sumOf(rest.asked.requests), '1', 0),
    ...told('own CPU at rest', rest?.own, 's'),
    ...told('own CPU at rest, Go', first(turns.Go, (turn) => turn.rest)?.own, 's'),
    ...judged('restart to rest', again?.seconds, 's', 2),
    ...told('restart to rest, Go', theirs?.seconds, 's'),
    ...judged('most views of a kind at a restart', again && Math.max(...Object.values(again.asked.views)), '1', 1),
  ];
}

const told = (name: string, value: number | undefined, unit: string): Figure[] =>
  value === undefined ? [] : [{ name: `models: ${name}`, value, unit }];

/** What a model costs when there are many. */
function growthGoals({ turns, models, grown }: ModelsResult): Figure[] {
  const [ours, go] = [turns.Baton, turns.Go].map((all) => first(all, growth));
  const added = (one: Growth | undefined) => one && ((one.grown.peak - one.made.peak) / (grown - models)) * 1_024;
  const factor = (of: Row['of']) => quotient(ours && of(ours.grown), ours && of(ours.made));
  const limit = Number(((grown / models) * 1.05).toFixed(2));
  const count = grown.toLocaleString('en');
  return [
    ...judged('memory an added model to Go', quotient(added(ours), added(go)), 'ratio', 1),
    ...told('memory an added model', added(ours), 'KiB'),
    ...told('memory an added model, Go', added(go), 'KiB'),
    ...judged(`peak memory to Go with ${count}`, quotient(ours?.grown.peak, go?.grown.peak), 'ratio', 1),
    ...told(`peak memory with ${count}`, ours?.grown.peak, 'MiB'),
    ...told(`peak memory with ${count}, Go`, go?.grown.peak, 'MiB'),
    ...judged(
      `own CPU with ${count} to that before`,
      factor(({ own }) => own),
      'ratio',
      limit,
    ),
    ...judged(
      `requests with ${count} to those before`,
      factor(({ asked }) => sumOf(asked.requests)),
      'ratio',
      limit,
    ),
  ];
}

type Growth = Turn & { grown: Made };

const growth = (turn: Turn): Growth | undefined => (turn.grown ? { ...turn, grown: turn.grown } : undefined);

/** Everything as a table. */
export function modelsTable(result: ModelsResult): string {
  const { turns, models, rounds } = result;
  const shown = names.filter((name) => turns[name]);
  const cells = ({ name, unit, of }: Row): string[] => {
    const values = shown.map((one) => middle(turns[one], of));
    return [
      `${name}${unit === '1' ? '' : `, ${unit}`}`,
      ...values.map(figure),
      figure(quotient(values[0], middle(turns.Go, of))),
    ];
  };
  const judgedOnly = modelsFigures(result).filter(({ goal }) => goal !== undefined);
  return [
    `Models: ${models.toLocaleString('en')} to Ready, medians of ${rounds} rounds`,
    table([['', ...shown, 'to Go'], ...rows.map(cells)]),
    '',
    table([['requests a model', ...shown], ...requestRows(result, shown)]),
    '',
    figureTable(judgedOnly),
  ].join('\n');
}

/** By verb and resource, from the first round of each. */
function requestRows({ turns }: ModelsResult, shown: readonly Name[]): string[][] {
  const made = shown.map((name) => turns[name]?.[0]?.made);
  const kinds = [...new Set(made.flatMap((one) => Object.keys(one?.asked.requests ?? {})))].toSorted();
  const each = (one: Made | undefined, kind: string) => one && (one.asked.requests[kind] ?? 0) / one.models;
  return kinds.map((kind) => [kind, ...made.map((one) => figure(each(one, kind)))]);
}
