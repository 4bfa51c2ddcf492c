// The figures of a run as tables of a page: what each contestant of the models part took, and which goals were met.

import type { Figure } from '../figures.ts';
import { names } from '../models/contestants.ts';
import { figure } from '../table.ts';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const ruled = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [row(head), row(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(row)].join('\n');

/** What was measured of each contestant, one a column. */
export function contestantsTable(figures: readonly Figure[]): string {
  const prefix = 'models: ';
  const valueOf = (what: string, name: string) => figures.find((one) => one.name === `${prefix}${what}, ${name}`);
  const shown = names.filter((name) => valueOf('time to Ready', name));
  const whats = figures
    .filter(({ name }) => name.startsWith(prefix) && name.endsWith(`, ${shown[0]}`))
    .map(({ name, unit }) => ({ what: name.slice(prefix.length, -`, ${shown[0]}`.length), unit }));
  return ruled([
    ['', ...shown],
    ...whats.map(({ what, unit }) => [
      unit === '1' ? what : `${what}, ${unit}`,
      ...shown.map((name) => figure(valueOf(what, name)?.value)),
    ]),
  ]);
}

/** Every goal of a run. */
export const goalsTable = (figures: readonly Figure[]): string =>
  ruled([
    ['goal', 'value', 'asked', ''],
    ...figures
      .filter(({ goal }) => goal !== undefined && goal !== null)
      .map(({ name, value, goal = '', met }) => [
        name.replace('models: ', ''),
        figure(value),
        goal.replace('<=', '≤').replace('>=', '≥'),
        met ? 'met' : '**missed**',
      ]),
  ]);
