// Unions of zod. A structural schema has one shape a node, so a union is said in one of four ways: one enum, a nullable
// value, int-or-string, or an object with the properties of all branches and a `oneOf` that tells the branches apart.
// A union that fits none of them is refused.

import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { below, type Place, refuse, type Structural, type ValueChecks } from './structural.ts';
import { defOf } from './zod.ts';

type Convert = (schema: z.core.$ZodType, place: Place) => Structural;

/** The node for a union; `convert` turns its branches. */
export function unionOf(schema: z.core.$ZodUnion, place: Place, convert: Convert): Structural {
  const { options } = defOf(schema);
  const branches = options.filter((option) => defOf(option).type !== 'null');
  const shapes = branches.map((option, index) => convert(option, below(place, `(${index + 1})`)));
  const one = joined(shapes, place);
  return branches.length < options.length ? { ...one, nullable: true } : one;
}

function joined(shapes: Structural[], place: Place): Structural {
  const [first, second] = shapes;
  if (first && shapes.length === 1) return first;
  if (first && shapes.every(({ type, enum: values }) => values && type === first.type))
    return { type: first.type!, enum: [...new Set(shapes.flatMap((shape) => shape.enum ?? []))] };
  if (shapes.length === 2 && isIntOrString(first, second)) return intOrString(first!, second!);
  if (shapes.every(isPlainObject)) return hoisted(shapes, place);
  const types = shapes.map(({ type }) => type ?? 'anything').join(' or ');
  refuse(place, `a union of ${types} cannot be said in a structural schema`);
  return {};
}

const isIntOrString = (first?: Structural, second?: Structural): boolean =>
  [first, second].every((shape) => shape?.enum === undefined && shape?.nullable === undefined) &&
  ['integer', 'string'].every((type) => first?.type === type || second?.type === type);

/** Checks of both branches stand side by side: those for strings pass numbers by, and the other way round. */
function intOrString(first: Structural, second: Structural): Structural {
  const { type: _type, format: _format, ...checks } = { ...first, ...second };
  return { ...checks, 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
}

const isPlainObject = (shape: Structural): boolean =>
  shape.properties !== undefined &&
  !['oneOf', 'nullable', 'x-kubernetes-validations', 'x-kubernetes-map-type'].some((key) => key in shape);

/** One object with everybody's properties; each branch says which it needs and which it must not have. */
function hoisted(shapes: Structural[], place: Place): Structural {
  const properties: Record<string, Structural> = {};
  for (const [name, shape] of shapes.flatMap((branch) => Object.entries(branch.properties ?? {})))
    properties[name] = shared(properties[name], shape, below(place, `.${name}`));
  const names = Object.keys(properties);
  const always = names.filter((name) => shapes.every(({ required }) => required?.includes(name)));
  const oneOf = shapes.map((branch) => branchOf(branch, properties));
  if (shapes.some((a, i) => shapes.slice(i + 1).some((b) => overlap(a, b))))
    refuse(place, 'two branches of the union can hold the same value: give each a required field of its own');
  return { type: 'object', properties, ...(always.length > 0 ? { required: always } : {}), oneOf };
}

/** A property that stands in several branches: the same everywhere, or an enum that tells them apart. */
function shared(known: Structural | undefined, shape: Structural, place: Place): Structural {
  if (shape.default !== undefined)
    refuse(place, 'has a default inside a union, which the API server would set in every branch');
  if (!known || isDeepStrictEqual(known, shape)) return shape;
  const { enum: theirs, ...restOfKnown } = known;
  const { enum: ours, ...rest } = shape;
  if (theirs && ours && known.type === shape.type)
    return { ...rest, ...restOfKnown, enum: [...new Set([...theirs, ...ours])] };
  refuse(place, 'differs between the branches of the union');
  return known;
}

function branchOf({ properties = {}, required = [] }: Structural, all: Record<string, Structural>): ValueChecks {
  const strangers = Object.keys(all).filter((name) => !(name in properties));
  const narrowed = Object.entries(properties).filter(
    ([name, { enum: values }]) => values?.length !== all[name]?.enum?.length,
  );
  return {
    ...(required.length > 0 ? { required } : {}),
    ...(narrowed.length > 0
      ? { properties: Object.fromEntries(narrowed.map(([name, shape]) => [name, { enum: shape.enum ?? [] }])) }
      : {}),
    ...(strangers.length > 0 ? { not: { anyOf: strangers.map((name) => ({ required: [name] })) } } : {}),
  };
}

/** Whether one value may satisfy both branches. */
function overlap(a: Structural, b: Structural): boolean {
  const apart = Object.entries(a.properties ?? {}).some(([name, { enum: ours }]) => {
    const theirs = b.properties?.[name]?.enum;
    const needed = a.required?.includes(name) && b.required?.includes(name);
    return needed && ours && theirs && !ours.some((value) => theirs.includes(value));
  });
  return !lacks(a, b) && !lacks(b, a) && !apart;
}

const lacks = (one: Structural, other: Structural): boolean =>
  (one.required ?? []).some((name) => !(name in (other.properties ?? {})));
