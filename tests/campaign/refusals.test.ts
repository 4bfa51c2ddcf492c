// Does the API server refuse everything that breaks a rule of a schema, by that rule, with the field that it is in? And is there
// no rule that nobody knows how to break?

import { deepEqual } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../kit/eventually.ts';
import { must, type Rig, startRig } from '../kit/rig.ts';
import { propertiesIn } from './kind.ts';
import { refuseAll } from './refusals.ts';
import { tables } from './tables.ts';

const seed = Number(process.env['SEED'] ?? 20261116);

const laxCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'laxes.lax.test.baton.dev' },
  spec: {
    group: 'lax.test.baton.dev',
    scope: 'Namespaced',
    names: { kind: 'Lax', plural: 'laxes' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

for (const table of tables)
  describe(`a ${table.kind.kind} that breaks a rule`, () => {
    let rig: Rig;
    before(async () => {
      rig = await startRig({ controllers: 'none' }, table.installed);
    });
    after(() => rig.stop());

    test(`is refused, with the field, for every rule of the schema (seed ${seed})`, async (context) => {
      const { operations, wrong, unbroken, rules } = await refuseAll(rig, table, {
        properties: propertiesIn(table),
        seed,
      });
      context.diagnostic(`${operations} violations of ${rules} rules`);
      deepEqual({ wrong, unbroken }, { wrong: [], unbroken: [] });
    });

    // Fault 36 of the list that the mutants are from: a CRD that takes everything.
    test('is missed where the CRD has no rules, and the campaign says so of every rule', async () => {
      await must(rig.plane, ['apply', '-f', '-'], JSON.stringify(laxCrd));
      await must(rig.plane, ['wait', '--for=condition=Established', '--timeout=30s', `crd/${laxCrd.metadata.name}`]);
      const kind = { ...table.kind, apiVersion: 'lax.test.baton.dev/v1', kind: 'Lax', plural: 'laxes' };
      const lax = { ...table, kind };
      const properties = propertiesIn(table);
      const refused = await eventually(() => refuseAll(rig, lax, { properties, seed }), { what: 'the kind is served' });
      deepEqual([refused.wrong.length, refused.unbroken.length], [refused.operations, refused.rules]);
    });
  });
