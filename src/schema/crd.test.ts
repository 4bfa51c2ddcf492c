import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { commonStatus, crdOf, defineKind, type KindDefinition, SchemaError } from './index.ts';
import { immutable, intOrString, listMap, mapOf, setOf, withRules } from './pieces.ts';

const sound = {
  group: 'test.baton.dev',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  description: 'A thing.',
  spec: z.object({}).describe('Spec.'),
  status: commonStatus.describe('Status.'),
};

/** Everything that is wrong with a definition. */
function problemsOf(definition: Partial<KindDefinition>): readonly string[] {
  try {
    crdOf(defineKind({ ...sound, ...definition }));
    return [];
  } catch (error) {
    ok(error instanceof SchemaError);
    return error.problems;
  }
}

const inSpec = (shape: z.ZodRawShape) => problemsOf({ spec: z.object(shape).describe('Spec.') });

const text = z.string().max(9);
const d = <T extends z.ZodType>(schema: T): T => schema.describe('Described.');
const item = z.object({ name: d(text), size: d(z.int().min(0).max(9).optional()) });

interface Tree {
  child?: Tree | undefined;
}
const tree: z.ZodType<Tree> = z.object({
  get child() {
    return d(tree.optional());
  },
});

const faults: { name: string; x: z.ZodType; says: string[] }[] = [
  { name: 'a field without a description', x: text, says: ['spec.x: has no description'] },
  { name: 'an empty description', x: text.describe(' '), says: ['spec.x: has no description'] },
  { name: 'a string without an end', x: d(z.string()), says: ['spec.x: has no maximum length'] },
  { name: 'a pattern without an end', x: d(z.string().regex(/^a/)), says: ['spec.x: has no maximum length'] },
  { name: 'a URL without an end', x: d(z.url()), says: ['spec.x: has no maximum length'] },
  { name: 'a list without an end', x: d(z.array(text)), says: ['spec.x: has no maximum number of items'] },
  {
    name: 'items without an end',
    x: d(z.array(z.object({ y: z.string() })).max(3)),
    says: ['spec.x[].y: has no description', 'spec.x[].y: has no maximum length'],
  },
  { name: 'a number without bounds', x: d(z.int()), says: ['spec.x: has no minimum', 'spec.x: has no maximum'] },
  { name: 'a number without an upper bound', x: d(z.number().min(0)), says: ['spec.x: has no maximum'] },
  {
    name: 'int-or-string without bounds',
    x: d(intOrString(z.int(), z.string())),
    says: ['spec.x: has no maximum length', 'spec.x: has no minimum', 'spec.x: has no maximum'],
  },
  { name: 'a map without an end', x: d(z.record(z.string(), text)), says: ['spec.x: has no maxProperties'] },
  {
    name: 'values of a map without an end',
    x: d(mapOf(z.string(), { max: 3, keyLength: 9 })),
    says: ['spec.x.*: has no maximum length'],
  },
  {
    name: 'bounds that nothing fits',
    x: d(z.int().min(5).max(3)),
    says: ['spec.x: has bounds that nothing fits'],
  },
  {
    name: 'bounds that the API server cannot count to',
    x: d(z.float32()),
    says: ['spec.x: has a bound beyond 2^53, where the API server overflows'],
  },
  {
    name: 'an enum that may be null',
    x: d(z.enum(['a']).nullable()),
    says: ['spec.x: is an enum that may be null, and the API server refuses that null'],
  },
  {
    name: 'recursion',
    x: d(tree),
    says: ['spec.x.child.child: contains itself, and a structural schema has an end'],
  },
  {
    name: 'a transform',
    x: d(text.transform(Number)),
    says: ['spec.x: "pipe" is nothing that an API server can check'],
  },
  { name: 'a date', x: d(z.date()), says: ['spec.x: "date" is nothing that an API server can check'] },
  { name: 'a refinement', x: d(text.refine(Boolean)), says: ['spec.x: has a refinement: write it as a CEL rule'] },
  {
    name: 'trimming',
    x: d(text.trim()),
    says: ['spec.x: the check "overwrite" has no counterpart in the API server'],
  },
  {
    name: 'coercion',
    x: d(z.coerce.boolean()),
    says: ['spec.x: coerces its value, which the API server does not'],
  },
  { name: 'anything', x: d(z.unknown()), says: ['spec.x: takes anything: use opaque() if that is meant'] },
  {
    name: 'fields and free keys',
    x: d(z.looseObject({ y: d(text) })),
    says: ['spec.x: has both fields and free keys; a structural schema has one or the other'],
  },
  {
    name: 'a union of two shapes',
    x: d(z.union([text, z.object({})])),
    says: ['spec.x: a union of string or object cannot be said in a structural schema'],
  },
  {
    name: 'a union of strings',
    x: d(z.union([text, z.literal('a')])),
    says: ['spec.x: a union of string or string cannot be said in a structural schema'],
  },
  {
    name: 'branches that overlap',
    x: d(z.union([z.object({ y: d(text) }), z.object({ y: d(text), z: d(text.optional()) })])),
    says: ['spec.x: two branches of the union can hold the same value: give each a required field of its own'],
  },
  {
    name: 'a field that differs between branches',
    x: d(z.xor([z.object({ y: d(text), a: d(text) }), z.object({ y: d(z.boolean()), b: d(text) })])),
    says: ['spec.x.y: differs between the branches of the union'],
  },
  {
    name: 'a default in a branch',
    x: d(z.xor([z.object({ a: d(text) }), z.object({ b: d(text), c: d(text.default('c')) })])),
    says: ['spec.x.c: has a default inside a union, which the API server would set in every branch'],
  },
  {
    name: 'constants of several types',
    x: d(z.literal(['a', 1])),
    says: ['spec.x: its constants must be strings, whole numbers or booleans, all of one type'],
  },
  {
    name: 'a default that is too long',
    x: d(text.default('more than nine')),
    says: ['spec.x: its default is refused: Too big: expected string to have <=9 characters'],
  },
  {
    name: 'a default with unknown fields',
    x: d(z.object({}).default({ y: 1 } as never)),
    says: ['spec.x: its default has fields that do not exist'],
  },
  {
    name: 'a default with too many keys',
    x: d(mapOf(text, { max: 1, keyLength: 9 }).default({ a: '', b: '' })),
    says: ['spec.x: its default has too many keys'],
  },
  {
    name: 'a default with twins',
    x: d(setOf(text, 3).default(['a', 'a'])),
    says: ['spec.x: its default has the same item twice'],
  },
  {
    name: 'a default inside a list',
    x: d(z.array(text.default('a')).max(3)),
    says: ['spec.x[]: has a default, and only a field can be left out'],
  },
  {
    name: 'an optional inside a map',
    x: d(mapOf(text.optional(), { max: 3, keyLength: 9 })),
    says: ['spec.x.*: is optional, and only a field can be left out'],
  },
  {
    name: 'a key that may be absent',
    x: d(listMap('size', item, 3)),
    says: ['spec.x[].size: is a key of the list: it must be required or have a default'],
  },
  {
    name: 'a key that does not exist',
    x: d(listMap('nmae', item, 3)),
    says: ['spec.x[].nmae: is a key of the list and does not exist'],
  },
  {
    name: 'a set of objects',
    x: d(setOf(item, 3)),
    says: ['spec.x[]: stands in a set and is not one plain value'],
  },
  {
    name: 'look-around in a pattern',
    x: d(text.regex(/^(?!a)/)),
    says: ['spec.x: its pattern uses look-around, which the API server refuses'],
  },
  {
    name: 'flags of a pattern',
    x: d(text.regex(/^a/i)),
    says: ['spec.x: the flags "i" of its pattern are lost in a CRD'],
  },
  {
    name: 'a pattern that repeats too often',
    x: d(text.regex(/^(a{0,40}){0,40}$/)),
    says: ['spec.x: its pattern repeats more than 1000 times'],
  },
  {
    name: 'a format that means something else in Go',
    x: d(z.iso.duration().max(9)),
    says: ['spec.x: its pattern uses look-around, which the API server refuses'],
  },
  {
    name: 'a rule without a message',
    x: d(withRules(text, { rule: 'self != ""', message: '' })),
    says: ['spec.x: its rule "self != """ has no message'],
  },
  {
    name: 'a rule about nothing',
    x: d(withRules(text, { rule: '1 == 1', message: 'is one' })),
    says: ['spec.x: its rule "1 == 1" says nothing about self'],
  },
  {
    name: 'a rule about the past of an item without identity',
    x: d(z.array(immutable(text)).max(3)),
    says: ['spec.x[]: its rule "self == oldSelf" uses oldSelf inside a list that is no list-map'],
  },
  {
    name: 'a rule that points to a field that does not exist',
    x: d(withRules(z.object({ y: d(text) }), { rule: 'has(self.y)', message: 'needs y', fieldPath: '.z' })),
    says: ['spec.x: its rule "has(self.y)" points to .z, which does not exist'],
  },
  {
    name: 'meta that nobody reads',
    x: d(text).meta({ title: 'X', default: 3 }),
    says: [
      'spec.x: "title" in its meta means nothing in a CRD',
      'spec.x: "default" in its meta means nothing in a CRD',
      'spec.x: is required and has a default',
    ],
  },
];

describe('refused, with the path of the field', () => {
  for (const { name, x, says } of faults) test(name, () => deepEqual(inSpec({ x }), says));

  test('all faults at once, those of the status too', () => {
    const problems = problemsOf({
      spec: z.object({ a: z.string(), b: d(z.date()) }),
      status: commonStatus.extend({ c: z.boolean() }).describe('Status.'),
    });
    deepEqual(problems, [
      'spec.b: "date" is nothing that an API server can check',
      'spec: has no description',
      'spec.a: has no description',
      'spec.a: has no maximum length',
      'status.c: has no description',
    ]);
  });

  test('the message names the kind and lists the faults', () => {
    const broken = defineKind({ ...sound, spec: z.object({ a: text }).describe('Spec.') });
    throws(() => crdOf(broken), { message: 'Thing cannot become a CRD:\n  spec.a: has no description' });
  });

  test('a spec that is no object', () =>
    deepEqual(problemsOf({ spec: z.boolean().describe('Spec.') }), ['spec: is no object']));

  test('names that the API server does not take', () =>
    deepEqual(problemsOf({ group: 'nodot', version: '1', kind: 'thing', plural: 'Things', shortNames: ['t_t'] }), [
      'group: "nodot" is no domain name with a dot',
      'version: "1" is no version',
      'kind: "thing" is not in CamelCase',
      'names: "Things" is not in lower case letters, digits and dashes',
      'names: "t_t" is not in lower case letters, digits and dashes',
    ]));

  test('columns and scale paths that lead nowhere', () =>
    deepEqual(
      problemsOf({
        columns: [
          { name: 'Phase', type: 'string', path: '.status.phse' },
          { name: 'Ready', type: 'string', path: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Name', type: 'string', path: '.metadata.name' },
        ],
        scale: { specPath: '.spec.replicas', statusPath: '.status.observedGeneration' },
      }),
      ['columns.Phase: .status.phse names no field', 'scale.specPath: .spec.replicas names no field'],
    ));

  test('a CRD of more than 64 KiB', () => {
    const field = text.describe('x'.repeat(1000));
    const shape = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`f${index}`, field]));
    const [problem, ...more] = inSpec(shape);
    ok(/^spec: the CRD has \d+ bytes, more than 65536$/.test(problem ?? ''));
    equal(more.length, 0);
  });
});

describe('a CRD', () => {
  const crd = crdOf(
    defineKind({
      ...sound,
      shortNames: ['th'],
      categories: ['baton'],
      conditions: ['Loaded'],
      spec: z.object({ replicas: d(z.int32().min(0).max(9).default(1)) }).describe('Spec.'),
      status: commonStatus.extend({ replicas: d(z.int32().min(0).optional()) }).describe('Status.'),
      longestName: 40,
      columns: [{ name: 'Phase', type: 'string', path: '.status.phase', priority: 1 }],
      scale: { specPath: '.spec.replicas', statusPath: '.status.replicas' },
    }),
  );
  const [version] = crd.spec.versions;
  const root = version.schema.openAPIV3Schema;

  test('is named and found by short name and category', () => {
    equal(crd.metadata.name, 'things.test.baton.dev');
    deepEqual(crd.spec.names, {
      kind: 'Thing',
      listKind: 'ThingList',
      plural: 'things',
      singular: 'thing',
      shortNames: ['th'],
      categories: ['baton'],
    });
  });

  test('has a status and a scale subresource, columns, and the age', () => {
    deepEqual(version['subresources'], {
      status: {},
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    });
    deepEqual(version['additionalPrinterColumns'], [
      { name: 'Phase', type: 'string', priority: 1, jsonPath: '.status.phase' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ]);
  });

  test('needs a spec, bounds the name, and names its conditions', () => {
    deepEqual(root.required, ['spec']);
    const { metadata } = root.properties ?? {};
    equal(metadata?.properties?.['name']?.maxLength, 40);
    deepEqual(Object.keys(metadata ?? {}), ['type', 'properties'], 'the API server takes nothing else');
    equal(
      root.properties?.['status']?.properties?.['conditions']?.description,
      'What is true of the object. Types: Ready, Reconciling, Stalled, Loaded.',
    );
  });
});
