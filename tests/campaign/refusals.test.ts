// Does the API server refuse everything that breaks a rule of a schema, by that rule, with the field that it is in? And is there
// no rule that nobody knows how to break?

import { deepEqual } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Rig, startRig } from '../kit/rig.ts';
import { propertiesIn } from './kind.ts';
import { refuseAll } from './refusals.ts';
import { tables } from './tables.ts';

const seed = Number(process.env['SEED'] ?? 20261116);

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
  });
