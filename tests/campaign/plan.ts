// What a campaign does, from a seed: every value of every property, in an order by chance, each asked of an object that stands
// wherever the walk has come by then.

import { canonical } from '../../src/base/index.ts';
import { documentWith, exampleFrom } from './documents.ts';
import type { Document, Meanings } from './meaning.ts';
import { absent, type Example, type Json, type Property } from './property.ts';
import { valuesFor } from './values.ts';
import type { Operation } from './walk.ts';

/** One property, one value; the document comes from where a walk stands. */
export interface Task {
  property: string;
  what: string;
  from: (document: Document) => Document;
  /** Only shown to the API server. */
  dear: boolean;
  takenBack: boolean;
  /** What else is asked for just before, and not waited for. */
  hasty: ((document: Document) => Document) | undefined;
}

/** Numbers by chance from a seed, the same ones each time (mulberry32). */
export function chanceFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<T>(list: readonly T[], chance: () => number): T[] {
  return list
    .map((item) => ({ item, rank: chance() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** Every value of every property once, in an order by chance. */
export function tasksFor(table: Meanings, properties: readonly Property[], seed: number): Task[] {
  const chance = chanceFrom(seed);
  const example = exampleFrom(table, properties, seed);
  const tasks = properties.flatMap((property) =>
    valuesFor(property, table, seed).map((value) => taskOf({ property, value, table, example, chance })),
  );
  const notes = Object.entries(table.annotations).flatMap(([key, values]) =>
    [...values, undefined].map((value) => noteTask(key, value, chance)),
  );
  const all = shuffled([...tasks, ...notes], chance);
  return all.map((task, index) => ({ ...task, hasty: chance() < 0.15 ? all[index - 1]?.from : undefined }));
}

interface Making {
  property: Property;
  value: Json;
  table: Meanings;
  example: Example;
  chance: () => number;
}

const taskOf = ({ property, value, table, example, chance }: Making): Task => ({
  property: property.path,
  what: value === absent ? 'left out' : JSON.stringify(value).slice(0, 120),
  from: (document) => documentWith({ document, property, value }, table, example),
  dear: table.isDear(property.path, value),
  takenBack: chance() < 0.3,
  hasty: undefined,
});

const noteTask = (key: string, value: string | undefined, chance: () => number): Task => ({
  property: `metadata.annotations.${key}`,
  what: value ?? 'left out',
  from({ annotations, ...document }) {
    const { [key]: _former, ...others } = annotations ?? {};
    return { ...document, annotations: value === undefined ? others : { ...others, [key]: value } };
  },
  dear: false,
  takenBack: chance() < 0.3,
  hasty: undefined,
});

/** What a task means where a walk stands; undefined if it stands there already. */
export function operationOf(task: Task, document: Document): Operation | undefined {
  const next = task.from(document);
  if (canonical(next) === canonical(document)) return undefined;
  const { property, what, takenBack, hasty } = task;
  return { property, what, document: next, takenBack, ...(hasty && { hurried: hasty(document) }) };
}
