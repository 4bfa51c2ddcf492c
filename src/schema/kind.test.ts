import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { aliasOf, type AskedOf, commonStatus, defineKind, type ObjectOf, type StatusOf } from './index.ts';

const Thing = defineKind({
  group: 'test.baton.dev',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  shortNames: ['th'],
  description: 'A thing.',
  spec: z.object({ size: z.int().default(1), note: z.string().optional() }),
  status: commonStatus.extend({ weight: z.int().optional() }),
});
type Thing = ObjectOf<typeof Thing>;

test('a defined kind is a kind', () => {
  const { apiVersion, kind, plural, namespaced } = Thing;
  deepEqual(
    { apiVersion, kind, plural, namespaced },
    {
      apiVersion: 'test.baton.dev/v1',
      kind: 'Thing',
      plural: 'things',
      namespaced: true,
    },
  );
});

test('an alias has its own names and the same schema', () => {
  const alias = aliasOf(Thing, { group: 'old.dev', version: 'v2', kind: 'Old', plural: 'olds' });
  equal(alias.apiVersion, 'old.dev/v2');
  equal(alias.definition.spec, Thing.definition.spec);
  equal(alias.definition.shortNames, undefined);
});

test('the types come from the schema: defaults are there when observed and may be left out when asked', () => {
  const asked: AskedOf<typeof Thing> = { metadata: { name: 'a' }, spec: {} };
  const observed: Thing = { apiVersion: '', kind: '', metadata: { name: 'a' }, spec: { size: 1 } };
  // @ts-expect-error: an observed object has its defaults
  const bare: Thing = { ...observed, spec: {} };
  // @ts-expect-error: JSON has no undefined
  const hollow: Thing = { ...observed, spec: { size: 1, note: undefined } };
  const status: StatusOf<typeof Thing> = { phase: 'Ready', weight: 3 };
  // @ts-expect-error: the status has no such field
  const wrong: StatusOf<typeof Thing> = { wieght: 3 };
  equal([asked, observed, bare, hollow, status, wrong].length, 6);
});
