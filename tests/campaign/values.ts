// Values by type: the bounds of what a schema takes and what lies just inside them, every value of an enumeration, words that
// a pattern accepts, lists and maps with nothing, one, several and the most in them.

import fc from 'fast-check';
import type { Structural } from '../../src/schema/index.ts';
import type { Meanings } from './meaning.ts';
import { absent, type Json, type Property } from './property.ts';
import { type Meaning, meanings } from './words.ts';

/** All values that a property is given in a campaign; whatever the schema refuses of them is refused. */
export function valuesFor(property: Property, table: Meanings, seed: number): Json[] {
  const { node, path, required } = property;
  const meant = meanings[meaningOf(property, table)];
  const all = [...(table.values[path] ?? []), ...meant, ...byType(node, seed), ...(required ? [] : [absent])];
  return distinct(all);
}

/** What a value means: as the table says, or as its form gives away. */
export function meaningOf({ node, path }: Property, { means }: Meanings): Meaning {
  return means[path] ?? (isQuantity(node) ? 'quantity' : 'plain');
}

const isQuantity = (node: Structural): boolean =>
  node['x-kubernetes-int-or-string'] === true && (node.pattern?.includes('Ki|Mi|Gi') ?? false);

/** Only once each, in the order of their first coming. */
export const distinct = (values: readonly Json[]): Json[] => [
  ...new Map(values.map((value) => [value === absent ? 'absent' : JSON.stringify(value), value])).values(),
];

/** What the type alone suggests. */
export function byType(node: Structural, seed: number): readonly Json[] {
  if (node.enum) return node.enum;
  if (node['x-kubernetes-int-or-string']) return [...numbers(node), ...strings(node, seed)];
  if (node.type === undefined) return [];
  switch (node.type) {
    case 'boolean':
      return [true, false];
    case 'integer':
    case 'number':
      return numbers(node);
    case 'string':
      return strings(node, seed);
    case 'array':
      return lists(node, seed);
    case 'object':
      return node.additionalProperties ? maps(node, seed) : [];
  }
}

function numbers({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Structural): number[] {
  const inside = [minimum, minimum + 1, maximum - 1, maximum];
  return inside.filter((value) => value >= minimum && value <= maximum);
}

function strings({ minLength = 0, maxLength = 1024, pattern }: Structural, seed: number): string[] {
  const accepts = new RegExp(pattern ?? '', 'u');
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength && accepts.test(text);
  const [first = 'a', ...more] = pattern === undefined ? ['a', 'b'] : sampled(accepts, seed).filter(fits);
  const longest = lengthened(first, maxLength);
  return [first, ...more.slice(0, 1), 'a'.repeat(Math.max(1, minLength)), '', longest].filter(fits);
}

const sampled = (accepts: RegExp, seed: number): string[] =>
  fc.sample(fc.stringMatching(accepts), { numRuns: 20, seed });

/** A text with as many more of its last letters as it takes. */
export const lengthened = (text: string, length: number): string =>
  text.padEnd(length, /[a-z0-9]$/i.exec(text)?.[0] ?? 'a');

/** A value that a schema takes, as small as can be. */
export function smallest(node: Structural, seed: number): Json {
  if (node.type !== 'object' || node.additionalProperties) return byType(node, seed)[0] ?? {};
  const required = (node.required ?? []).map((name) => [name, smallest(node.properties?.[name] ?? {}, seed)]);
  return Object.fromEntries(required) as Json;
}

function lists(node: Structural, seed: number): Json[] {
  const { items = {}, maxItems = 16 } = node;
  const [key] = node['x-kubernetes-list-map-keys'] ?? [];
  const one = smallest(items, seed);
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      key === undefined ? one : { ...(one as object), [key]: `${key}${index}` },
    );
  return [[], many(1), many(2), many(2).toReversed(), many(maxItems)];
}

function maps({ additionalProperties = {}, maxProperties = 16 }: Structural, seed: number): Json[] {
  const one = smallest(additionalProperties, seed);
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`example.com/key${index}`, one]));
  return [{}, many(1), many(2), many(maxProperties)];
}
