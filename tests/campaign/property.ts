// The properties of a kind, from the schema of its CRD: every node below `spec`, composite ones included, each with a path as
// people write it (`spec.env[].name`, `spec.nodeSelector{}`), and the way to set or remove one in a document.

import type { Structural } from '../../src/schema/index.ts';

/** Names of members; `[]` is an item of a list, `{}` a value of a map. */
export type Step = string;

export interface Property {
  path: string;
  steps: readonly Step[];
  node: Structural;
  /** Whether the object above it cannot be without it. */
  required: boolean;
}

/** Every property of a schema, from above to below. */
export function propertiesOf(node: Structural, steps: readonly Step[], required = true): Property[] {
  const own: Property = { path: pathOf(steps), steps, node, required };
  const members = Object.entries(node.properties ?? {}).flatMap(([name, member]) =>
    propertiesOf(member, [...steps, name], node.required?.includes(name) ?? false),
  );
  const items = node.items ? propertiesOf(node.items, [...steps, '[]']) : [];
  const values = node.additionalProperties ? propertiesOf(node.additionalProperties, [...steps, '{}']) : [];
  return [own, ...members, ...items, ...values];
}

/** Steps as people write them. */
export const pathOf = (steps: readonly Step[]): string =>
  steps.reduce(
    (path, step) => (step === '[]' || step === '{}' ? `${path}${step}` : `${path}${path && '.'}${step}`),
    '',
  );

/** What stands for a member that is left out. */
export const absent = Symbol('absent');

/** A piece of JSON. */
export type Json = unknown;
type Fields = Record<string, Json>;

const isFields = (value: Json): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The values of a property in a document: none where it is left out, several in a list or a map. */
export function valuesAt(document: Json, steps: readonly Step[]): Json[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [document];
  const next =
    step === '[]'
      ? Array.isArray(document)
        ? document
        : []
      : step === '{}'
        ? isFields(document)
          ? Object.values(document)
          : []
        : isFields(document) && document[step] !== undefined
          ? [document[step]]
          : [];
  return next.flatMap((value: Json) => valuesAt(value, rest));
}

/** An example of what stands at a path, for what is missing above a property that is to be set. */
export type Example = (path: string, below: readonly Step[]) => Json;

/**
 * The document with another value of a property: in the first item of a list, in the first entry of a map. What is missing
 * above it comes from the example.
 */
export function placed(document: Json, steps: readonly Step[], value: Json, example: Example): Json {
  return set(document, { above: [], below: steps, value, example });
}

interface Placing {
  above: readonly Step[];
  below: readonly Step[];
  value: Json;
  example: Example;
}

function set(document: Json, { above, below, value, example }: Placing): Json {
  const [step, ...rest] = below;
  if (step === undefined) return value;
  const here = document === undefined || !leads(document, below) ? example(pathOf(above), below) : document;
  const deeper = (next: Json) => set(next, { above: [...above, step], below: rest, value, example });
  if (step === '[]') return withItem(Array.isArray(here) ? here : [], deeper);
  const fields = isFields(here) ? here : {};
  const name = step === '{}' ? (Object.keys(fields)[0] ?? 'key') : step;
  const next = deeper(fields[name]);
  const { [name]: _former, ...others } = fields;
  return next === absent ? others : { ...fields, [name]: next };
}

function withItem([first, ...others]: Json[], deeper: (next: Json) => Json): Json[] {
  const next = deeper(first);
  return next === absent ? others : [next, ...others];
}

/** Whether the objects that a path leads through are there, so that setting its end makes sense. */
function leads(document: Json, [step, ...rest]: readonly Step[]): boolean {
  if (step === undefined || rest.length === 0) return true;
  const next = step === '[]' || step === '{}' ? Object.values(document as object)[0] : (document as Fields)[step];
  if (next === undefined) return step !== '[]' && step !== '{}';
  return leads(next, rest);
}
