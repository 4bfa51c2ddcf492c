// What a campaign tells at its end: how much it did, how much of the kind it touched, how much it could not compare, and what it
// found.

import type { Ground } from './ground.ts';
import type { Document } from './meaning.ts';
import type { Property } from './property.ts';
import type { Refusals } from './refusals.ts';
import type { Raised, Result } from './run.ts';

/** A campaign in figures. */
export interface Report {
  kind: string;
  seed: number;
  seconds: number;
  operations: number;
  outcomes: Record<string, number>;
  properties: { all: number; touched: number; untouched: string[] };
  rules: { all: number; broken: number; unbroken: string[] };
  compared: { fields: number; masked: number; maskedShare: number; learned: string[] };
  writes: number;
  alarms: Line[];
  /** Alarms that did not come again. */
  passing: Line[];
}

interface Line {
  oracle: string;
  property: string;
  what: string;
  words: string[];
  documents: Document[];
}

export interface Told {
  ground: Ground;
  properties: readonly Property[];
  refusals: Refusals;
  result: Result;
  passing: readonly Raised[];
  seed: number;
  seconds: number;
}

/** The figures of a campaign. */
export function reportOf({ ground, properties, refusals, result, passing, seed, seconds }: Told): Report {
  const { fields, masked } = ground.share;
  const untouched = properties.map(({ path }) => path).filter((path) => !result.touched.has(path));
  const { rules, unbroken, operations, wrong } = refusals;
  return {
    kind: ground.table.kind.kind,
    seed,
    seconds: Math.round(seconds),
    operations: operations + result.operations,
    outcomes: { ...result.outcomes, violations: operations },
    properties: { all: properties.length, touched: properties.length - untouched.length, untouched },
    rules: { all: rules, broken: rules - unbroken.length, unbroken },
    compared: {
      fields,
      masked,
      maskedShare: fields === 0 ? 0 : Math.round((1_000 * masked) / fields) / 1_000,
      learned: [...new Set(ground.masks.filter(({ because }) => because.includes('three')).map(({ field }) => field))],
    },
    writes: ground.ledger.count(),
    alarms: [...wrong.map((words) => alarmLine('refusal', words)), ...result.raised.map(lineOf)],
    passing: passing.map(lineOf),
  };
}

const alarmLine = (oracle: string, words: string): Line => ({
  oracle,
  property: '',
  what: '',
  words: [words],
  documents: [],
});

const lineOf = ({ oracle, operation, words, documents }: Raised): Line => ({
  oracle,
  property: operation.property,
  what: operation.what,
  words: words.slice(0, 8),
  documents,
});

/** The same for people. */
export const wordsFor = ({
  kind,
  seed,
  seconds,
  operations,
  outcomes,
  properties,
  rules,
  compared,
  writes,
  alarms,
  passing,
}: Report): string =>
  [
    `${kind}: ${operations} operations in ${seconds} s (seed ${seed}): ${Object.entries(outcomes)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}`,
    `properties touched: ${properties.touched} of ${properties.all}${listed(properties.untouched)}`,
    `rules broken, with the field named: ${rules.broken} of ${rules.all}${listed(rules.unbroken)}`,
    `fields compared: ${compared.fields}, ${(100 * compared.maskedShare).toFixed(1)} % of them masked; learned: ${compared.learned.join(', ') || 'none'}`,
    `writes of the operator: ${writes}`,
    `alarms that did not come again: ${passing.length}`,
    ...passing.map(wordsOf),
    `alarms: ${alarms.length}`,
    ...alarms.map(wordsOf),
    '',
  ].join('\n');

const wordsOf = ({ oracle, property, what, words }: Line): string =>
  `  ${oracle}: ${property} ${what}\n    ${words.join('\n    ')}`;

const listed = (names: readonly string[]): string => (names.length === 0 ? '' : ` (not: ${names.join(', ')})`);
