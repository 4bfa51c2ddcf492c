// From zod to a structural schema. The walk goes over zod's own nodes instead of rewriting its JSON schema: so every
// fault has a path, nothing that zod can do and an API server cannot (transforms, refinements, recursion) slips through,
// and what zod invents for other readers ($ref, propertyNames, bounds of safe integers) never appears.

import * as z from 'zod';
import { enumOf, numberOf, stringOf } from './scalar.ts';
import { below, type CelRule, type Place, refuse, type Structural } from './structural.ts';
import { unionOf } from './union.ts';
import { checksOf, defOf, mayBeAbsent } from './zod.ts';

type Converter = (schema: never, place: Place) => Structural;

const converters: { readonly [type: string]: Converter } = {
  string: stringOf,
  number: numberOf,
  boolean: () => ({ type: 'boolean' }),
  enum: enumOf,
  literal: enumOf,
  object: objectOf,
  array: arrayOf,
  record: recordOf,
  union: (schema: z.core.$ZodUnion, place: Place) => unionOf(schema, place, convert),
  nullable: (schema: z.core.$ZodNullable, place: Place) => ({ ...inner(schema, place), nullable: true }),
  readonly: (schema: z.core.$ZodReadonly, place: Place) => inner(schema, place),
  optional: optionalOf,
  default: defaultOf,
  unknown: opaqueOf,
};

/** Checks that have a counterpart in a structural schema; a refinement in JavaScript has none. */
const known = new Set([
  'greater_than',
  'less_than',
  'multiple_of',
  'number_format',
  'min_length',
  'max_length',
  'length_equals',
  'string_format',
]);

/** The node for a zod schema, with what its `.meta()` says. */
export const convert = (schema: z.core.$ZodType, place: Place): Structural =>
  withMeta(bareNode(schema, place), schema, place);

function bareNode(schema: z.core.$ZodType, place: Place): Structural {
  const { type } = defOf(schema);
  if (place.above.includes(schema)) return refused(place, 'contains itself, and a structural schema has an end');
  const converter = converters[type];
  if (!converter) return refused(place, `"${type}" is nothing that an API server can check`);
  refuseUnseen(schema, place);
  return converter(schema as never, { ...place, above: [...place.above, schema] });
}

function refused(place: Place, why: string): Structural {
  refuse(place, why);
  return {};
}

/** Work that only JavaScript would do: the API server stores the value as it came. */
function refuseUnseen(schema: z.core.$ZodType, place: Place): void {
  const def = defOf(schema);
  if ('coerce' in def && def.coerce) refuse(place, 'coerces its value, which the API server does not');
  const stranger = checksOf(schema).find(({ check }) => !known.has(check))?.check;
  if (stranger === 'custom') refuse(place, 'has a refinement: write it as a CEL rule');
  else if (stranger) refuse(place, `the check "${stranger}" has no counterpart in the API server`);
}

const metaKeys = new Set([
  'description',
  'minProperties',
  'maxProperties',
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
]);

/** A wrapper's words go before those of what it wraps; rules of both hold. */
function withMeta(shape: Structural, schema: z.core.$ZodType, place: Place): Structural {
  const meta = z.globalRegistry.get(schema) as Structural | undefined;
  if (!meta) return shape;
  for (const key of Object.keys(meta).filter((name) => !metaKeys.has(name)))
    refuse(place, `"${key}" in its meta means nothing in a CRD`);
  const rules: CelRule[] = [...(shape['x-kubernetes-validations'] ?? []), ...(meta['x-kubernetes-validations'] ?? [])];
  return { ...shape, ...meta, ...(rules.length > 0 ? { 'x-kubernetes-validations': rules } : {}) };
}

type Wrapper = { _zod: { def: z.core.$ZodTypeDef & { innerType: z.core.$ZodType } } };
const inner = (schema: Wrapper, place: Place): Structural => convert(defOf(schema).innerType, place);

function objectOf(schema: z.core.$ZodObject, place: Place): Structural {
  const { shape, catchall } = defOf(schema);
  const fields = Object.entries(shape);
  const rest = catchall ? defOf(catchall).type : 'never';
  if (rest !== 'never' && (fields.length > 0 || rest !== 'unknown'))
    return refused(place, 'has both fields and free keys; a structural schema has one or the other');
  if (rest !== 'never') return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const required = fields.filter(([, field]) => !mayBeAbsent(field)).map(([name]) => name);
  const properties = fields.map(([name, field]) => [name, convert(field, below(place, `.${name}`, true))]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
  };
}

function arrayOf(schema: z.core.$ZodArray, place: Place): Structural {
  const sizes = new z.ZodArray({ type: 'array', element: z.boolean(), checks: defOf(schema).checks ?? [] });
  const { minItems, maxItems } = z.toJSONSchema(sizes);
  return {
    type: 'array',
    ...(minItems === undefined ? {} : { minItems }),
    ...(maxItems === undefined ? {} : { maxItems }),
    items: convert(defOf(schema).element, below(place, '[]')),
  };
}

/** A map. Its keys have no place in a structural schema; what is asked of them becomes a CEL rule. */
function recordOf(schema: z.core.$ZodRecord, place: Place): Structural {
  const { keyType: key, valueType } = defOf(schema);
  const values: Structural = { type: 'object', additionalProperties: convert(valueType, below(place, '.*')) };
  if (defOf(key).type !== 'string') return refused(place, 'has keys that are not plain strings: list them as fields');
  const { minLength, maxLength, pattern, allOf, format } = stringOf(key, place);
  if (allOf ?? format) refuse(place, 'its keys may have a length and one pattern, no more');
  const rules = [...lengthRule(minLength ?? 0, maxLength), ...patternRule(pattern)];
  return { ...values, ...(rules.length > 0 ? { 'x-kubernetes-validations': rules } : {}) };
}

function lengthRule(least: number, most: number | undefined): CelRule[] {
  if (least === 0 && most === undefined) return [];
  const limits = [`size(key) >= ${least}`, ...(most === undefined ? [] : [`size(key) <= ${most}`])];
  const message = `each key must have ${least} ${most === undefined ? 'or more' : `to ${most}`} characters`;
  return [{ rule: `self.all(key, ${limits.join(' && ')})`, message }];
}

const patternRule = (pattern: string | undefined): CelRule[] =>
  pattern === undefined
    ? []
    : [{ rule: `self.all(key, key.matches(${JSON.stringify(pattern)}))`, message: `each key must match ${pattern}` }];

function optionalOf(schema: z.core.$ZodOptional, place: Place): Structural {
  if (!place.isField) refuse(place, 'is optional, and only a field can be left out');
  return inner(schema, place);
}

/** A default is set by the API server, so it must itself pass what it stands for. */
function defaultOf(schema: z.core.$ZodDefault, place: Place): Structural {
  const { innerType, defaultValue } = defOf(schema);
  if (!place.isField) refuse(place, 'has a default, and only a field can be left out');
  const before = place.problems.length;
  const shape = convert(innerType, place);
  const verdict = place.problems.length === before ? z.safeParse(innerType, defaultValue) : undefined;
  for (const issue of verdict?.error?.issues ?? []) refuse(place, `its default is refused: ${issue.message}`);
  if (verdict?.success && !within(defaultValue, verdict.data))
    refuse(place, 'its default has fields that do not exist');
  return { ...shape, default: defaultValue };
}

/** Whether every member of one value is also in the other: zod drops what it does not know and adds defaults. */
function within(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return Object.is(part, whole);
  if (typeof whole !== 'object' || whole === null) return false;
  return Object.entries(part).every(([key, value]) => within(value, (whole as Record<string, unknown>)[key]));
}

/** Anything at all; the author must have meant it. */
function opaqueOf(schema: z.core.$ZodUnknown, place: Place): Structural {
  const meant = z.globalRegistry.get(schema)?.['x-kubernetes-preserve-unknown-fields'] === true;
  return meant ? {} : refused(place, 'takes anything: use opaque() if that is meant');
}
