// The parts of a campaign that need no cluster: properties and documents, values, masks, and the oracles on made-up worlds.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aModel } from '../kit/mlmodel.ts';
import type { Structural } from '../../src/schema/index.ts';
import { exampleFrom } from './documents.ts';
import { fixtures } from './fixtures.ts';
import { propertiesIn } from './kind.ts';
import { anyKind } from './meaning.ts';
import { mlmodel } from './mlmodel/index.ts';
import { hidden, silence } from './oracles.ts';
import { chanceFrom, tasksFor } from './plan.ts';
import { absent, placed, propertiesOf, valuesAt } from './property.ts';
import { covers, differences, learned, type State, waitingPart } from './state.ts';
import { tables } from './tables.ts';
import { byType, lengthened } from './values.ts';
import { breachesOf, rulesOf, violationsOf } from './violations.ts';
import { worldOf } from '../kit/truth.ts';

const table = anyKind(mlmodel);
const properties = propertiesIn(table);
const example = exampleFrom(table, properties, 1);
const set = (document: object, steps: string[], value: unknown) => placed(document, steps, value, example);

describe('properties', () => {
  test('are all nodes of a schema, composite ones too, by the path that people write', () => {
    const node: Structural = {
      type: 'object',
      required: ['a'],
      properties: {
        a: { type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } },
        c: { type: 'object', additionalProperties: { type: 'string' } },
      },
    };
    const found = propertiesOf(node, ['spec']).map(({ path, required }) => `${path}${required ? '!' : ''}`);
    deepEqual(found, ['spec!', 'spec.a!', 'spec.a[]!', 'spec.a[].b', 'spec.c', 'spec.c{}!']);
  });

  test('are set where they are, and with an example of what is missing above them', () => {
    deepEqual(set({ spec: { replicas: 1 } }, ['spec', 'replicas'], 2), { spec: { replicas: 2 } });
    deepEqual(set({ spec: { replicas: 1 } }, ['spec', 'replicas'], absent), { spec: {} });
    const made = set({ spec: {} }, ['spec', 'env', '[]', 'secret', 'key'], 'k');
    deepEqual(valuesAt(made, ['spec', 'env', '[]', 'secret', 'key']), ['k']);
    deepEqual(valuesAt(made, ['spec', 'env', '[]', 'value']), [], 'the example is one with a Secret');
    const labels = set({ spec: { podLabels: { a: '1', b: '2' } } }, ['spec', 'podLabels', '{}'], '3');
    deepEqual(labels, { spec: { podLabels: { a: '3', b: '2' } } });
  });
});

describe('values', () => {
  test('by type lie within the bounds, and reach them', () => {
    deepEqual(byType({ type: 'integer', minimum: 1, maximum: 9 }, 1), [1, 2, 8, 9]);
    const names = byType({ type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 }, 1) as string[];
    ok(names.length > 0 && names.every((name) => /^[a-z]{2,5}$/.test(name)));
    ok(names.some(({ length }) => length === 5));
    equal(lengthened('a1', 5), 'a1111');
  });

  test('of a seed are the same each time, and others for another', () => {
    const told = (seed: number) => tasksFor(table, properties, seed).map(({ property, what }) => `${property} ${what}`);
    deepEqual(told(1), told(1));
    ok(told(1).join() !== told(2).join());
    ok(new Set([1, 2, 3].map(chanceFrom(9))).size === 3);
  });

  for (const one of tables)
    test(`there are of every property of ${one.kind.kind}`, () => {
      const all = propertiesIn(one);
      const touched = new Set(tasksFor(one, all, 1).map(({ property }) => property));
      const parts = all.filter(({ node }) => !node.properties).map(({ path }) => path);
      deepEqual(
        parts.filter((path) => !touched.has(path)),
        [],
      );
    });
});

describe('rules', () => {
  test('of a node are all of its checks', () => {
    const [property] = propertiesOf({ type: 'string', minLength: 1, maxLength: 3, pattern: '^a' }, ['spec', 'x']);
    const rules = breachesOf(property ?? fail()).map(({ rule }) => rule);
    deepEqual(rules, ['required', 'type', 'pattern', 'minLength', 'maxLength']);
  });

  for (const one of tables)
    test(`of ${one.kind.kind} are all broken by somebody`, () => {
      const all = propertiesIn(one);
      const broken = new Set(violationsOf(all, one, 1).map(({ name }) => name));
      deepEqual(
        rulesOf(all, one)
          .map(({ name }) => name)
          .filter((name) => !broken.has(name)),
        [],
      );
    });
});

const fail = (): never => {
  throw new TypeError('there is none');
};

const state = (fields: Record<string, string>): State => new Map(Object.entries(fields));

describe('states', () => {
  const because = '';

  test('a mask covers a field and what is below it, of its kind', () => {
    ok(covers({ field: 'Service spec.ports.*.nodePort', because }, 'Service NAME-x spec.ports.0.nodePort'));
    ok(covers({ field: '* metadata.managedFields', because }, 'Service NAME-x metadata.managedFields.0.time'));
    ok(!covers({ field: 'Service spec.port', because }, 'Service NAME-x spec.ports.0.nodePort'));
    ok(!covers({ field: 'Job spec', because }, 'Service NAME-x spec.ports.0.nodePort'));
  });

  test('differ in what is not masked, and the share of what is gets counted', () => {
    const share = { fields: 0, masked: 0 };
    const [found, expected] = [
      state({ 'A n a': '1', 'A n b': '1' }),
      state({ 'A n a': '2', 'A n b': '2', 'A n c': '3' }),
    ];
    const told = differences(found, expected, { masks: [{ field: 'A b', because }], share });
    deepEqual(told, ['A n a is 1, expected 2', 'A n c is nothing, expected 3']);
    deepEqual(share, { fields: 3, masked: 1 });
  });

  test('three equal lives tell what differs by its nature, as fields', () => {
    const lives = ['1', '2', '1'].map((port) => state({ 'Service n spec.port': port, 'Service n spec.type': 'x' }));
    deepEqual(
      learned(lives, []).map(({ field }) => field),
      ['Service spec.port'],
    );
    deepEqual(learned(lives, [{ field: 'Service spec.port', because }]), []);
  });

  test('of what waits count in what is asked and in why it waits', () => {
    const all = state({
      'MLModel NAME spec.replicas': '1',
      'MLModel NAME status.conditions.Ready.reason': 'x',
      'Job n a': '1',
    });
    equal(waitingPart(all).size, 2);
  });
});

describe('oracles', () => {
  const nothing = worldOf(new Map());
  const condition = (type: string, status: 'True' | 'False', reason: string) => ({
    type,
    status,
    reason,
    message: 'words',
    observedGeneration: 1,
  });
  const told = (phase: string, ...conditions: ReturnType<typeof condition>[]) => ({
    ...aModel(),
    status: { observedGeneration: 1, phase, conditions },
  });

  test('what says Ready and has nothing lies; what waits says for what', () => {
    match(silence(told('Ready', condition('Ready', 'True', 'Serving')), table, nothing).join(), /no Deployment/);
    const waiting = [condition('Ready', 'False', 'Downloading'), condition('Reconciling', 'True', 'Downloading')];
    match(silence(told('Downloading', ...waiting), table, nothing).join(), /names no cause/);
    const held = waiting.map((one) => ({ ...one, reason: 'Unschedulable' }));
    deepEqual(silence(told('Downloading', ...held), table, nothing), []);
    const stalled = [condition('Ready', 'False', 'Failed'), condition('Stalled', 'True', 'Failed')];
    deepEqual(silence(told('Failed', ...stalled), table, nothing), []);
    match(silence(told('Failed'), table, nothing).join(), /no condition Ready/);
  });

  test('what was changed shows in a child, or is missed', () => {
    const parent = {
      ...told('Ready', condition('Ready', 'True', 'Serving')),
      spec: { ...aModel().spec, priorityClassName: 'high' },
    };
    const child = (priorityClassName: string) =>
      ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec: { priorityClassName } }) as never;
    const missed = (seen: never[]) =>
      hidden({ before: aModel(), trail: { parent, now: nothing, seen } }, properties, table);
    deepEqual(missed([child('high')]), []);
    deepEqual(missed([child('low')]), ['spec.priorityClassName = "high" shows nowhere']);
  });
});

test('every fixture is of a kind that takes part, and has two documents at least', () => {
  for (const [file, { kind, documents }] of fixtures()) {
    ok(
      tables.some((one) => one.kind.kind === kind),
      file,
    );
    ok(documents.length >= 2, file);
  }
});
