import { deepEqual } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { commonStatus, crdOf, defineKind, type Structural } from './index.ts';
import { immutable, intOrString, listMap, mapOf, opaque, setOf, withRules } from './pieces.ts';

/** What becomes of one field of a spec. */
function fieldOf(field: z.ZodType): Structural | undefined {
  const kind = defineKind({
    group: 'test.baton.dev',
    version: 'v1',
    kind: 'Thing',
    plural: 'things',
    description: 'A thing.',
    spec: z.object({ field }).describe('Spec.'),
    status: commonStatus.describe('Status.'),
  });
  const spec = crdOf(kind).spec.versions[0].schema.openAPIV3Schema.properties?.['spec'];
  return spec?.properties?.['field'];
}

const text = z.string().max(9);
const description = 'Field.';
const described = (structural: Structural): Structural => ({ ...structural, description });
const anInt = { type: 'integer', format: 'int64' } as const;
const string9 = { type: 'string', maxLength: 9 } as const;

const rows: { name: string; field: z.ZodType; is: Structural }[] = [
  { name: 'a string keeps its lengths', field: z.string().min(1).max(9), is: { ...string9, minLength: 1 } },
  { name: 'a pattern is a pattern', field: text.regex(/^a+$/), is: { ...string9, pattern: '^a+$' } },
  {
    name: 'several patterns must all match',
    field: text.regex(/^a/).regex(/b$/),
    is: { ...string9, allOf: [{ pattern: '^a' }, { pattern: 'b$' }] },
  },
  { name: 'a beginning is a pattern', field: text.startsWith('s3://'), is: { ...string9, pattern: '^s3:\\/\\/.*' } },
  { name: 'a known format needs no pattern', field: z.uuid(), is: { type: 'string', format: 'uuid' } },
  { name: 'a URL is a uri', field: z.url().max(9), is: { ...string9, format: 'uri' } },
  { name: 'a moment is a date-time', field: z.iso.datetime(), is: { type: 'string', format: 'date-time' } },
  { name: 'a boolean is a boolean', field: z.boolean(), is: { type: 'boolean' } },
  {
    name: 'the bounds of safe integers are left out',
    field: z.int().min(0).max(5),
    is: { ...anInt, minimum: 0, maximum: 5 },
  },
  {
    name: 'a bound that the author set stays, even the largest',
    field: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
    is: { ...anInt, minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
  {
    name: 'an int32 has its own bounds and format',
    field: z.int32().min(0),
    is: { type: 'integer', format: 'int32', minimum: 0, maximum: 2 ** 31 - 1 },
  },
  {
    name: 'exclusive bounds are a bound and a flag',
    field: z.number().gt(0).lt(1),
    is: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
  },
  { name: 'an enum is an enum', field: z.enum(['a', 'b']), is: { type: 'string', enum: ['a', 'b'] } },
  { name: 'a constant is an enum of one', field: z.literal(3), is: { type: 'integer', enum: [3] } },
  {
    name: 'a union of constants is one enum',
    field: z.union([z.literal('a'), z.enum(['b', 'c']), z.literal('a')]),
    is: { type: 'string', enum: ['a', 'b', 'c'] },
  },
  { name: 'null makes nullable', field: text.nullable(), is: { ...string9, nullable: true } },
  { name: 'a union with null is nullable', field: z.union([text, z.null()]), is: { ...string9, nullable: true } },
  {
    name: 'whole numbers or strings are int-or-string, with the checks of both',
    field: intOrString(z.int().min(1).max(9), z.string().max(9)),
    is: {
      minimum: 1,
      maximum: 9,
      maxLength: 9,
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
    },
  },
  { name: 'a default is a default', field: text.default('x'), is: { ...string9, default: 'x' } },
  {
    name: 'a list keeps its sizes',
    field: z.array(text).min(1).max(4),
    is: { type: 'array', minItems: 1, maxItems: 4, items: string9 },
  },
  {
    name: 'a set says so',
    field: setOf(text, 4),
    is: { type: 'array', maxItems: 4, items: string9, 'x-kubernetes-list-type': 'set' },
  },
  {
    name: 'a list-map names its key',
    field: listMap('name', z.object({ name: text.describe('Name.') }), 4),
    is: {
      type: 'array',
      maxItems: 4,
      items: { type: 'object', properties: { name: { ...string9, description: 'Name.' } }, required: ['name'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
  },
  {
    name: 'keys of a map are checked by a rule',
    field: mapOf(text, { max: 4, keyLength: 63 }),
    is: {
      type: 'object',
      additionalProperties: string9,
      maxProperties: 4,
      'x-kubernetes-validations': [
        {
          rule: 'self.all(key, size(key) >= 1 && size(key) <= 63)',
          message: 'each key must have 1 to 63 characters',
        },
      ],
    },
  },
  {
    name: 'a pattern of keys too',
    field: z.record(z.string().regex(/^\d$/), text).meta({ maxProperties: 4 }),
    is: {
      type: 'object',
      additionalProperties: string9,
      maxProperties: 4,
      'x-kubernetes-validations': [
        { rule: 'self.all(key, key.matches("^\\\\d$"))', message: 'each key must match ^\\d$' },
      ],
    },
  },
  {
    name: 'what is not ours to check is kept',
    field: opaque(),
    is: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
  {
    name: 'rules of a value and of its wrapper both hold',
    field: immutable(withRules(text, { rule: 'self != "a"', message: 'is not a' }).optional()),
    is: {
      ...string9,
      'x-kubernetes-validations': [
        { rule: 'self != "a"', message: 'is not a' },
        { rule: 'self == oldSelf', message: 'is immutable' },
      ],
    },
  },
  {
    name: 'unknown keys are the API server’s to prune',
    field: z.strictObject({ a: text.describe('A.') }).readonly(),
    is: { type: 'object', properties: { a: { ...string9, description: 'A.' } }, required: ['a'] },
  },
];

describe('a zod schema as a structural schema', () => {
  for (const { name, field, is } of rows)
    test(name, () => deepEqual(fieldOf(field.describe(description)), described(is)));
});

const a = text.describe('A.');
const b = z.int().min(0).max(9).describe('B.');
const asA = { ...string9, description: 'A.' };
const asB = { ...anInt, minimum: 0, maximum: 9, description: 'B.' };

describe('a union of objects', () => {
  test('has the properties of all branches, and tells them apart', () => {
    deepEqual(
      fieldOf(z.xor([z.object({ a }), z.object({ b, a: a.optional() }), z.object({ c: a })]).describe(description)),
      described({
        type: 'object',
        properties: { a: asA, b: asB, c: asA },
        oneOf: [
          { required: ['a'], not: { anyOf: [{ required: ['b'] }, { required: ['c'] }] } },
          { required: ['b'], not: { anyOf: [{ required: ['c'] }] } },
          { required: ['c'], not: { anyOf: [{ required: ['a'] }, { required: ['b'] }] } },
        ],
      }),
    );
  });

  test('may be told apart by a constant', () => {
    const type = <T extends string>(value: T) => z.literal(value).describe('Type.');
    const union = z.discriminatedUnion('type', [z.object({ type: type('x'), a }), z.object({ type: type('y'), a })]);
    deepEqual(
      fieldOf(union.describe(description)),
      described({
        type: 'object',
        properties: { type: { type: 'string', description: 'Type.', enum: ['x', 'y'] }, a: asA },
        required: ['type', 'a'],
        oneOf: [
          { required: ['type', 'a'], properties: { type: { enum: ['x'] } } },
          { required: ['type', 'a'], properties: { type: { enum: ['y'] } } },
        ],
      }),
    );
  });
});
