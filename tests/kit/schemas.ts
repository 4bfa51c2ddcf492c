// Random schemas from a small grammar, for the claim that `crdOf` either names the fault or makes something that the API
// server takes. About one piece in forty is faulty, so that of whole schemas some are sound and some are not.

import fc from 'fast-check';
import { z } from 'zod';
import {
  dnsLabel,
  immutable,
  intOrString,
  listMap,
  mapOf,
  objectName,
  opaque,
  quantity,
  setOf,
  withRules,
} from '../../src/schema/index.ts';

type Schema = fc.Arbitrary<z.ZodType>;
const small = fc.integer({ min: 0, max: 9 });
const text = z.string().max(20);

const strings: Schema = fc.oneof(
  small.map((max) => z.string().max(max)),
  fc.tuple(small, small).map(([min, more]) =>
    z
      .string()
      .min(min)
      .max(min + more),
  ),
  fc.constantFrom(/^a+$/, /^[a-z]{0,20}$/, /\d\.\w/, /^(x|y)?$/, /[\]^]/, /"\\'/).map((pattern) => text.regex(pattern)),
  fc.constantFrom(z.uuid(), z.ipv4(), z.ipv6(), z.iso.datetime(), z.iso.date(), z.url().max(200)),
  fc.constantFrom(dnsLabel(), objectName(), z.cidrv4().max(18), z.base64().max(99), z.email().max(99)),
  fc.constantFrom(text.startsWith('a/b'), text.endsWith('.c'), text.includes('"'), text.regex(/a/).regex(/b/)),
);

const numbers: Schema = fc.oneof(
  fc.tuple(small, small).map(([low, more]) =>
    z
      .int()
      .min(low)
      .max(low + more),
  ),
  fc.tuple(small, small).map(([low, more]) =>
    z
      .number()
      .gt(low)
      .lt(low + more + 1),
  ),
  fc.constantFrom(z.int32(), z.uint32(), z.int().min(0).max(99).multipleOf(5)),
);

const others: Schema = fc.oneof(
  fc.constantFrom(z.boolean(), z.enum(['a', 'b']), z.literal('a'), z.literal([1, 2]), z.literal(true)),
  fc.constantFrom(quantity(), intOrString(z.int().min(1).max(9), dnsLabel()), opaque()),
  fc.constantFrom(z.union([z.literal('a'), z.enum(['b', 'c'])]), z.union([text, z.null()])),
);

const faulty: Schema = fc.constantFrom<z.ZodType[]>(
  z.string(),
  z.int(),
  z.number(),
  z.float32(),
  text.trim(),
  text.regex(/^(?!a)/),
  text.regex(/^A/i),
  text.regex(/^(a{0,40}){0,40}$/),
  z.iso.duration().max(99),
  z.int().min(5).max(3),
  z.date(),
  z.bigint(),
  z.unknown(),
  z.literal(null),
  text.transform(Number),
  z.coerce.number(),
  z.tuple([z.boolean()]),
  z.union([z.literal('a'), z.literal(1)]),
  z.array(z.boolean()),
);

const scalars = fc.oneof({ weight: 3, arbitrary: strings }, { weight: 2, arbitrary: numbers }, others);
const leaves = fc.oneof({ weight: 39, arbitrary: scalars }, faulty);

const candidates = ['a', 'aaaa', '', 0, 3, true, 1.5, null, [], ['a'], ['a', 'a'], {}, { a: 'a' }, 'a/b'];

/** Some value that fits, so that most defaults are sound; the server is to judge what zod and we overlook. */
const fitting = (schema: z.ZodType, start: number): unknown =>
  [...candidates.slice(start), ...candidates].find((value) => schema.safeParse(value).success);

type Form = (inner: z.ZodType, luck: number) => z.ZodType;
const forms: readonly Form[] = [
  (inner) => inner,
  (inner) => inner.optional(),
  (inner) => inner.nullable(),
  (inner, luck) => inner.default(fitting(inner, luck) as never),
  (inner, luck) => inner.nullable().default((luck === 0 ? candidates[1] : null) as never),
  (inner) => withRules(inner, { rule: 'self == self', message: 'is itself' }),
  (inner) => immutable(inner),
];

/** A field: nearly all are described, some are optional or null or have a default. */
const fieldOf = (schema: Schema): Schema =>
  fc
    .tuple(schema, fc.constantFrom(...forms), fc.nat(candidates.length - 1), fc.nat(39))
    .map(([inner, form, luck, mute]) => (mute === 0 ? form(inner, luck) : form(inner, luck).describe('A field.')));

const objectOf = (keys: string[], fields: z.ZodType[]) =>
  z.object(Object.fromEntries(keys.map((key, index) => [key, fields[index] ?? z.boolean()])));

const named = z.object({ name: dnsLabel().describe('Name.') });

const { node } = fc.letrec<{ node: z.ZodType; object: z.ZodObject }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 8, arbitrary: leaves },
    { weight: 2, arbitrary: tie('object') },
    fc.tuple(tie('node'), small).map(([item, max]) => z.array(item).max(max)),
    fc.tuple(leaves, small).map(([item, max]) => setOf(item, max)),
    tie('object').map((item) => listMap('name', named.extend(item.shape), 5)),
    fc.tuple(tie('node'), small).map(([value, max]) => mapOf(value, { max, keyLength: 63 })),
    tie('node').map((value) => z.record(z.string().regex(/^[a-z"\\]$/), value).meta({ maxProperties: 4 })),
    fc.tuple(tie('object'), leaves).map(([one, other]) => z.xor([one, z.object({ own: other.describe('Own.') })])),
  ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.constantFrom('a', 'b', 'name', 'value', 'x-y', 'kind'), { maxLength: 4 }),
      fc.array(fieldOf(tie('node') as Schema), { minLength: 4, maxLength: 4 }),
    )
    .map(([keys, fields]) => objectOf(keys, fields)),
}));

/** The spec of some kind. */
export const specs: Schema = fc
  .array(fieldOf(node as Schema), { minLength: 1, maxLength: 4 })
  .map((fields) => objectOf(['one', 'two', 'three', 'four'].slice(0, fields.length), fields).describe('Spec.'));
