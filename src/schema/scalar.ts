// Strings, numbers, booleans, enums and literals of zod, as nodes of a structural schema. Lengths and bounds come from
// zod's own JSON schema; formats and patterns are read one by one, because the API server knows few of zod's formats,
// and zod's patterns for those that it does know are only noise.

import * as z from 'zod';
import { patternProblem } from './pattern.ts';
import { type Place, refuse, type ScalarType, type Structural } from './structural.ts';
import { type CheckDef, checksOf, constantsOf } from './zod.ts';

/** Formats that both sides understand alike: zod's name, the API server's name. */
const formats = new Map([
  ['url', 'uri'],
  ['uuid', 'uuid'],
  ['guid', 'uuid'],
  ['ipv4', 'ipv4'],
  ['ipv6', 'ipv6'],
  ['datetime', 'date-time'],
  ['date', 'date'],
]);

const json = (schema: z.core.$ZodType) => z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' });

/** A string with its lengths, its format and its patterns. */
export function stringOf(schema: z.core.$ZodType, place: Place): Structural {
  const { minLength, maxLength } = json(schema);
  const named = checksOf(schema).filter(({ check }) => check === 'string_format');
  const [format, second] = named.flatMap((check) => formats.get(check.format ?? '') ?? []);
  if (second) refuse(place, `has two formats, ${format} and ${second}`);
  return { type: 'string', ...given({ minLength, maxLength, format }), ...patternsOf(named, place) };
}

function patternsOf(named: CheckDef[], place: Place): Structural {
  const free = named.filter((check) => !formats.has(check.format ?? ''));
  for (const { pattern, format } of free) {
    const problem = pattern ? patternProblem(pattern) : `the API server does not know the format ${format}`;
    if (problem) refuse(place, problem);
  }
  const sources = free.flatMap(({ pattern }) => pattern?.source ?? []);
  const [pattern, ...more] = sources;
  if (more.length > 0) return { allOf: sources.map((source) => ({ pattern: source })) };
  return given({ pattern });
}

/** A number or an integer. The bounds that zod gives every safe integer are left out unless the author set them. */
export function numberOf(schema: z.core.$ZodType): Structural {
  const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = json(schema);
  const checks = checksOf(schema);
  const asked = (value: unknown) => checks.some((check) => check.value === value);
  const safe = (value: unknown) => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER && !asked(value);
  const int32 = checks.some(({ format }) => format === 'int32');
  return {
    type: type === 'integer' ? 'integer' : 'number',
    ...(type === 'integer' ? { format: int32 ? 'int32' : 'int64' } : {}),
    ...given({ minimum: safe(minimum) ? undefined : minimum, maximum: safe(maximum) ? undefined : maximum }),
    ...given({ exclusiveMinimum, exclusiveMaximum, multipleOf }),
  };
}

/** One of several constants, all of one type. */
export function enumOf(schema: z.core.$ZodEnum | z.core.$ZodLiteral, place: Place): Structural {
  const values = constantsOf(schema);
  const types = new Set(values.map(typeOf));
  const [type] = types;
  if (types.size === 1 && type) return { type, enum: values };
  refuse(place, 'its constants must be strings, whole numbers or booleans, all of one type');
  return {};
}

function typeOf(value: unknown): ScalarType | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as ScalarType;
  return Number.isSafeInteger(value) ? 'integer' : undefined;
}

/** Only what is there: an undefined member would be a member. */
const given = (members: object): Structural =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
