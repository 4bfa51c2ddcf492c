// A campaign: walks in many namespaces at once take tasks from one list. In the end all of them rest for a while, in which
// the operator must not write, and everything that was deleted must be gone.

import { setTimeout as pause } from 'node:timers/promises';
import type { Ground } from './ground.ts';
import type { Document } from './meaning.ts';
import { type Alarm, alarmOf } from './oracles.ts';
import { operationOf, type Task } from './plan.ts';
import type { Property } from './property.ts';
import { judged } from './refusals.ts';
import { learned } from './state.ts';
import {
  beginning,
  type Company,
  companyOn,
  freshStart,
  type Operation,
  type Outcome,
  step,
  type Walker,
} from './walk.ts';

/** An alarm with the two documents that raised it. */
export interface Raised extends Alarm {
  operation: Pick<Operation, 'property' | 'what'>;
  documents: Document[];
}

export interface Result {
  operations: number;
  outcomes: Record<Outcome['result'] | 'shown', number>;
  /** Properties that were changed at least once by an operation that was followed, so that every oracle looked at it. */
  touched: Set<string>;
  raised: Raised[];
}

export interface Campaign {
  ground: Ground;
  properties: readonly Property[];
  /** All of these are carried out, */
  tasks: readonly Task[];
  /** and as many of these as it takes to come to so many operations. */
  more?: { tasks: readonly Task[]; until: number };
  lanes: number;
  /** Called with every outcome, to tell how far it is. */
  tell?: (result: Result) => void;
}

/** Runs all tasks. */
export async function runCampaign(campaign: Campaign): Promise<Result> {
  const { ground, properties, lanes } = campaign;
  const company = companyOn(ground, properties);
  const result: Result = {
    operations: 0,
    outcomes: { ready: 0, waiting: 0, refused: 0, shown: 0 },
    touched: new Set(),
    raised: [],
  };
  const queue = [...campaign.tasks];
  const spare = [...(campaign.more?.tasks ?? [])];
  const next = () => queue.shift() ?? (result.operations < (campaign.more?.until ?? 0) ? spare.shift() : undefined);
  await learnMasks(company);
  await Promise.all(Array.from({ length: lanes }, (_, lane) => walkLane(campaign, { company, next, result, lane })));
  await ending(company, result);
  return result;
}

/** Three equal lives of every base: what differs between them differs by its nature. */
export async function learnMasks(company: Company): Promise<void> {
  const { ground } = company;
  const namespace = await ground.namespace();
  for (const base of ground.table.bases) {
    const lives = await Promise.all(
      [1, 2, 3].map(() => {
        company.fresh.clear();
        return freshStart(company, namespace, base);
      }),
    );
    ground.masks.push(
      ...learned(
        lives.map(({ state }) => state),
        ground.masks,
      ),
    );
  }
}

interface Lane {
  company: Company;
  next: () => Task | undefined;
  result: Result;
  lane: number;
}

/** Steps that a walk takes before it begins again at another base. */
const steps = 8;

async function walkLane(campaign: Campaign, lane: Lane): Promise<void> {
  const { ground } = campaign;
  const { bases } = ground.table;
  const namespace = await ground.namespace();
  const key = { namespace, name: `walk${lane.lane}x` };
  const baseAt = (number: number) => bases[(lane.lane + Math.floor(number / steps)) % bases.length] ?? { spec: {} };
  let walker: Walker | undefined;
  for (let number = 0, task = lane.next(); task; number++, task = lane.next()) {
    if (walker && number % steps === 0) await toBase(campaign, lane, walker, baseAt(number));
    walker ??= await begun(lane, beginning(lane.company, key, baseAt(number)));
    await carryOut(campaign, lane, { walker, task, namespace });
  }
}

/** A walk begins with something that can be followed, and that is looked at like everything else. */
async function begun({ result }: Lane, work: Promise<Walker>): Promise<Walker> {
  const walker = await work;
  const { alarms, document } = walker.standing;
  result.operations++;
  for (const alarm of alarms)
    result.raised.push({ ...alarm, operation: { property: 'spec', what: 'a beginning' }, documents: [document] });
  return walker;
}

const toBase = (campaign: Campaign, { company, result }: Lane, walker: Walker, document: Document): Promise<void> =>
  recorded(campaign, result, step(company, walker, { property: 'spec', what: 'a base', document, takenBack: false }));

async function carryOut(
  campaign: Campaign,
  { company, result }: Lane,
  { walker, task, namespace }: { walker: Walker; task: Task; namespace: string },
): Promise<void> {
  const here = walker.standing.document;
  if (task.dear) return shown(campaign, result, { document: task.from(here), task, namespace });
  const operation = operationOf(task, here);
  if (operation) await recorded(campaign, result, step(company, walker, operation));
}

/** What is valid and would cost too much is taken by the API server, and that is all that is asked. */
async function shown(
  { ground, tell }: Campaign,
  result: Result,
  { document, task, namespace }: { document: Document; task: Task; namespace: string },
): Promise<void> {
  const complaints = await judged(ground.rig.admin, ground.table, { document, namespace });
  result.operations++;
  result.outcomes.shown++;
  const words = complaints.filter(({ field }) => field === '').map(({ message }) => message);
  for (const alarm of alarmOf('refusal', words))
    result.raised.push({ ...alarm, operation: task, documents: [document] });
  tell?.(result);
}

async function recorded({ tell }: Campaign, result: Result, work: Promise<Outcome>): Promise<void> {
  const { operation, before, alarms, applies, result: end } = await work;
  result.operations += applies;
  result.outcomes[end]++;
  if (end === 'ready') for (const path of parentsOf(operation.property)) result.touched.add(path);
  const documents = [before, ...(operation.hurried ? [operation.hurried] : []), operation.document];
  const { property, what } = operation;
  for (const alarm of alarms) result.raised.push({ ...alarm, operation: { property, what }, documents });
  tell?.(result);
}

/** Who changes a member changes what it is a member of. */
function parentsOf(path: string): string[] {
  const parent = path.replace(/(\[\]|\{\}|\.[^.[{]+)$/, '');
  return parent === path || parent === '' ? [path] : [path, ...parentsOf(parent)];
}

/** Milliseconds in which nothing may be written in the end. */
const stillness = 10_000;

async function ending({ ground, leaving }: Company, result: Result): Promise<void> {
  const orphans = (await Promise.all(leaving)).flat();
  await pause(3_000);
  const since = performance.now();
  await pause(stillness);
  const waiting = ground.ledger.allSince(since);
  const last = [...orphans, ...alarmOf('stillness', waiting)];
  for (const alarm of last)
    result.raised.push({ ...alarm, operation: { property: '', what: 'the end' }, documents: [] });
}
