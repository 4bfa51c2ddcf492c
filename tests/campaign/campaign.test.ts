// A short campaign: one value of every property, by chance, and everything again that ever raised an alarm. The whole, with
// another seed each time, is `make campaign`; here SEED and TASKS may be set.

import { deepEqual } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fixtures, played } from './fixtures.ts';
import { type Ground, openGround } from './ground.ts';
import { propertiesIn } from './kind.ts';
import { type Task, tasksFor } from './plan.ts';
import { learnMasks, type Raised, runCampaign } from './run.ts';
import { triedAgain } from './shrink.ts';
import { tables } from './tables.ts';
import { companyOn } from './walk.ts';

const seed = Number(process.env['SEED'] ?? 20261116);
const most = Number(process.env['TASKS'] ?? Infinity);

/** An alarm in few lines, with the documents that raise it again. */
const lineOf = ({ oracle, operation, words, documents }: Raised): string =>
  [`${oracle}: ${operation.property} ${operation.what}`, ...words.slice(0, 6), JSON.stringify(documents)].join('\n');

/** One task for every property: the first by chance. */
const oneEach = (tasks: readonly Task[]): Task[] => [
  ...new Map(tasks.toReversed().map((task) => [task.property, task])).values(),
];

for (const table of tables)
  describe(`a short campaign of ${table.kind.kind}`, () => {
    let ground: Ground;
    const properties = propertiesIn(table);
    before(async () => {
      ground = await openGround(table);
    });
    after(() => ground.stop());

    test('what once raised an alarm raises none', async () => {
      const company = companyOn(ground, properties);
      await learnMasks(company);
      const known = fixtures().filter(([, { kind }]) => kind === table.kind.kind);
      const raised = await Promise.all(
        known.map(async ([file, { documents }]) =>
          (await played(company, await ground.namespace(), documents)).map((alarm) => ({ file, ...alarm })),
        ),
      );
      deepEqual(raised.flat(), []);
    });

    test(`one value of every property raises no alarm (seed ${seed})`, async (context) => {
      const tasks = oneEach(tasksFor(table, properties, seed)).slice(0, most);
      const { operations, outcomes, raised } = await runCampaign({ ground, properties, tasks, lanes: 12 });
      context.diagnostic(`${operations} operations: ${JSON.stringify(outcomes)}`);
      const { lasting, passing } = await triedAgain(companyOn(ground, properties), raised);
      for (const alarm of passing) context.diagnostic(`did not come again: ${lineOf(alarm)}`);
      deepEqual(lasting.map(lineOf), []);
    });
  });
