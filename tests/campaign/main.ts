// The whole campaign: `make campaign`. SEED, OPERATIONS, LANES and KIND, for one kind alone, may be set. Alarms that come again are made small and written
// as fixtures, which the tests play from then on; the figures are written to build/campaign.json.

import { mkdirSync, writeFileSync } from 'node:fs';
import { writeFixture } from './fixtures.ts';
import { type Ground, openGround } from './ground.ts';
import { propertiesIn } from './kind.ts';
import type { Meanings } from './meaning.ts';
import { tasksFor } from './plan.ts';
import type { Property } from './property.ts';
import { refuseAll } from './refusals.ts';
import { type Report, reportOf, wordsFor } from './report.ts';
import { type Raised, type Result, runCampaign } from './run.ts';
import { shrunk, triedAgain } from './shrink.ts';
import { tables } from './tables.ts';
import { companyOn } from './walk.ts';

const setting = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const seed = setting('SEED', Math.floor(Math.random() * 2 ** 31));
const operations = setting('OPERATIONS', 2_000);
const lanes = setting('LANES', 16);

/** Alarms that are made small: each takes a minute. */
const most = 12;

async function campaignOf(table: Meanings): Promise<Report> {
  const properties = propertiesIn(table);
  const ground = await openGround(table);
  const begun = performance.now();
  try {
    const refusals = await refuseAll(ground.rig, table, { properties, seed });
    process.stdout.write(`${table.kind.kind}: ${refusals.operations} violations shown, seed ${seed}\n`);
    const tasks = tasksFor(table, properties, seed);
    const rounds = Math.ceil((2 * operations) / tasks.length); // enough also where every second task changes nothing
    const others = Array.from({ length: rounds }, (_, round) => tasksFor(table, properties, seed + round + 1));
    const more = { tasks: others.flat(), until: operations - refusals.operations };
    const result = await runCampaign({ ground, properties, tasks, more, lanes, tell: progress(begun) });
    const seconds = (performance.now() - begun) / 1_000;
    const { lasting: raised, passing } = await keep(ground, properties, result);
    return reportOf({ ground, properties, refusals, result: { ...result, raised }, passing, seed, seconds });
  } finally {
    await ground.stop();
  }
}

/** A line now and then, and every alarm at once. */
function progress(begun: number): (result: Result) => void {
  let next = 0;
  let told = 0;
  return ({ operations: done, raised }) => {
    for (const { oracle, operation, words, documents } of raised.slice(told))
      process.stdout.write(
        `${oracle}: ${operation.property} ${operation.what}: ${words[0]}\n${JSON.stringify(documents)}\n`,
      );
    told = raised.length;
    if (done < next) return;
    next = done + 100;
    const seconds = Math.round((performance.now() - begun) / 1_000);
    process.stdout.write(`${done} operations, ${raised.length} alarms, ${seconds} s\n`);
  };
}

/** Tries alarms again, one of each sort; those that come again are made small and written down, if they can be asked for again. */
async function keep(
  ground: Ground,
  properties: readonly Property[],
  { raised }: Result,
): Promise<{ lasting: Raised[]; passing: Raised[] }> {
  const company = companyOn(ground, properties);
  const { lasting, passing } = await triedAgain(company, raised);
  for (const alarm of lasting.filter(({ documents }) => documents.length > 1).slice(0, most)) {
    const small = await shrunk(company, await ground.namespace(), alarm);
    process.stdout.write(`${sortOf(alarm)}: ${writeFixture(ground.table.kind.kind, small)}\n`);
  }
  return { lasting, passing };
}

const sortOf = ({ oracle, operation }: Raised): string => `${oracle} ${operation.property}`;

const reports: Report[] = [];
const { KIND: only } = process.env;
for (const table of tables.filter(({ kind }) => only === undefined || kind.kind === only))
  reports.push(await campaignOf(table));
for (const report of reports) process.stdout.write(wordsFor(report));
mkdirSync('build', { recursive: true });
writeFileSync('build/campaign.json', `${JSON.stringify(reports, undefined, 2)}\n`);
const wrong = reports.filter(
  ({ alarms, properties, rules, operations: done }) =>
    alarms.length + properties.untouched.length + rules.unbroken.length > 0 || done < operations,
);
process.exitCode = wrong.length > 0 ? 1 : 0;
