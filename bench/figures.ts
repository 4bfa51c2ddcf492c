// What was measured as a flat list: a name, a value with its unit, and a goal where there is one. A goal that is missed is
// shown as missed, and fails nothing: machines differ.

import { figure, table } from './table.ts';

/** A figure against its goal; without one it only informs. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  goal?: string;
  met?: boolean;
}

/** The figure with the goal to be no larger. */
export const atMost = (limit: number, { name, value, unit }: Figure): Figure => ({
  name,
  value,
  unit,
  goal: `<= ${limit}`,
  met: value <= limit,
});

/** The figure with the goal to be no smaller. */
export const atLeast = (limit: number, { name, value, unit }: Figure): Figure => ({
  name,
  value,
  unit,
  goal: `>= ${limit}`,
  met: value >= limit,
});

/** Figures with their goals, one a line. */
export const figureTable = (figures: readonly Figure[]): string =>
  table([
    ['', 'value', 'unit', 'goal', ''],
    ...figures.map(({ name, value, unit, goal = '', met }) => [name, figure(value), unit, goal, verdict(met)]),
  ]);

const verdict = (met: boolean | undefined): string => (met === undefined ? '' : met ? 'met' : 'missed');

/** All goals of a run at a glance; nothing where none was measured. */
export function goalTable(figures: readonly Figure[]): string {
  const judged = figures.filter(({ met }) => met !== undefined);
  const met = judged.filter((one) => one.met).length;
  return judged.length === 0 ? '' : `Goals: ${met} of ${judged.length} met\n${figureTable(judged)}`;
}

/** For programs: every figure has the same fields, and those that it lacks are null. */
export const figureList = (figures: readonly Figure[]): string =>
  `${JSON.stringify(
    figures.map(({ name, value, unit, goal, met }) => ({ name, value, unit, goal: goal ?? null, met: met ?? null })),
    undefined,
    2,
  )}\n`;
