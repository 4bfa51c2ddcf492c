// Documents made of others: one property set to one value, with whatever must be there for it to be set, and with what it
// needs to have an effect.

import type { Document, Meanings } from './meaning.ts';
import { type Example, type Json, placed, type Property, type Step, valuesAt } from './property.ts';
import { smallest } from './values.ts';

/** What stands above a property that is missing: an example of the table that leads to it, or the least that the schema takes. */
export const exampleFrom =
  (table: Meanings, properties: readonly Property[], seed: number): Example =>
  (path, below) => {
    const suits = (value: Json) => below.length < 2 || valuesAt(value, below.slice(0, -1)).length > 0;
    const known = (table.examples[path] ?? []).find(suits);
    if (known !== undefined) return known;
    const node = properties.find((property) => property.path === path)?.node;
    return node ? smallestAround(node, below, seed) : {};
  };

/** The least that a schema takes, with the members on the way to what is to be set. */
function smallestAround(node: Property['node'], below: readonly Step[], seed: number): Json {
  const least = smallest(node, seed);
  const [step] = below;
  if (node.items) return [smallest(node.items, seed)];
  if (step === '{}' || node.additionalProperties) return { key: smallest(node.additionalProperties ?? {}, seed) };
  return least;
}

/** The document in which a property has this value, and has an effect. */
export function documentWith(
  { document, property, value }: { document: Document; property: Property; value: Json },
  table: Meanings,
  example: Example,
): Document {
  const next = placed(document, property.steps, value, example) as Document;
  const around = table.with[property.path];
  return around ? { ...next, spec: around(next.spec) } : next;
}
