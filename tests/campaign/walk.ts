// A walk: one object that is asked for one thing after another, each compared with an object that never was anything else, and
// taken back now and then. What cannot be followed is always taken back, and must leave no trace.

import { setTimeout as pause } from 'node:timers/promises';
import type { Ground } from './ground.ts';
import { ask, hurried, nameOf, type Refused, removed, type Standing, standingNow, stirred } from './life.ts';
import type { Document } from './meaning.ts';
import { type Alarm, alarmOf } from './oracles.ts';
import type { Property } from './property.ts';
import { differences, type State, waitingPart } from './state.ts';
import type { Key } from './witness.ts';

/** What a walk is told to do next, and how it is told in a report. */
export interface Operation {
  property: string;
  what: string;
  document: Document;
  /** Asked for just before, and not waited for. */
  hurried?: Document;
  /** Whether it is taken back even if all went well. */
  takenBack: boolean;
}

/** What came of one operation. */
export interface Outcome {
  operation: Operation;
  result: 'ready' | 'waiting' | 'refused';
  /** Applies that it took. */
  applies: number;
  before: Document;
  alarms: Alarm[];
}

/** What is compared of a standing. */
type Look = Pick<Standing, 'state' | 'ready' | 'masks'>;

/** What walks share: fresh starts are made once for each document. */
export interface Company {
  ground: Ground;
  properties: readonly Property[];
  fresh: Map<string, Promise<Look>>;
  /** Deletions under way, which are looked at, too. */
  leaving: Promise<Alarm[]>[];
  births: number;
}

export const companyOn = (ground: Ground, properties: readonly Property[]): Company => ({
  ground,
  properties,
  fresh: new Map(),
  leaving: [],
  births: 0,
});

/** The state of an object that was never anything else. */
export function freshStart(company: Company, namespace: string, document: Document): Promise<Look> {
  const known = company.fresh.get(nameOf(document));
  if (known) return known;
  const key = { namespace, name: `fresh${++company.births}x` };
  const made = born(company, key, document);
  company.fresh.set(nameOf(document), made);
  return made;
}

async function born(company: Company, key: Key, document: Document): Promise<Look> {
  const { ground, properties } = company;
  const standing = await ask(ground, key, { document, before: undefined, properties });
  if ('refused' in standing)
    throw new Error(`a document was taken and then refused: ${JSON.stringify(standing.refused)}`);
  company.leaving.push(removed(ground, key));
  const { state, ready, masks } = standing;
  return { state, ready, masks };
}

/** An object that walks. */
export interface Walker {
  key: Key;
  standing: Standing;
}

/** Puts an object where a walk begins. */
export async function beginning(company: Company, key: Key, document: Document): Promise<Walker> {
  const { ground, properties } = company;
  const standing = await ask(ground, key, { document, before: undefined, properties });
  if ('refused' in standing) throw new Error(`a walk cannot begin: ${JSON.stringify(standing.refused)}`);
  const unserved = alarmOf('rest', standing.ready ? [] : ['a document to begin with is not followed']);
  return { key, standing: { ...standing, alarms: [...standing.alarms, ...unserved] } };
}

/** One operation of a walk, with everything that is to be said about it. The walker goes on from where it ends. */
export async function step(company: Company, walker: Walker, operation: Operation): Promise<Outcome> {
  const { ground, properties } = company;
  const { standing: before, key } = walker;
  const outcome = { operation, before: before.document };
  if (operation.hurried) await hurried(ground, key, operation.hurried);
  // Both lives begin at the same time.
  const [after] = await Promise.all([
    ask(ground, key, { document: operation.document, before, properties }),
    freshStart(company, key.namespace, operation.document).catch(() => undefined),
  ]);
  if ('refused' in after) return { ...outcome, result: 'refused', applies: 1, alarms: unnamed(after) };
  // Without an operator there is nothing more to be seen.
  if (!ground.operator.alive()) return { ...outcome, result: 'waiting', applies: 1, alarms: after.alarms };
  const alarms = [...after.alarms, ...(await compared(company, walker, after))];
  // What waits has deadlines, at which it may act: it is not done yet.
  if (after.ready) alarms.push(...alarmOf('stillness', await stirred(ground, key, operation.document)));
  const result = after.ready ? 'ready' : 'waiting';
  if (after.ready && !operation.takenBack) {
    walker.standing = after;
    return { ...outcome, result, applies: 1, alarms };
  }
  return { ...outcome, result, applies: 2, alarms: [...alarms, ...(await takenBack(company, walker, after))] };
}

/** A refusal that does not say where is no help. */
const unnamed = ({ refused }: Refused): Alarm[] =>
  alarmOf(
    'refusal',
    refused.some(({ field }) => /^(spec|metadata)\b/.test(field)) ? [] : refused.map(({ message }) => message),
  );

/** Compares with a fresh start. A difference must last, and be found with another one, too: news may be late on either side. */
async function compared(company: Company, { key }: Walker, after: Standing): Promise<Alarm[]> {
  const { ground } = company;
  const start = () => freshStart(company, key.namespace, after.document);
  const first = await start();
  if (after.ready && !first.ready && ground.table.isIdle?.(after.document)) return [];
  if ((await lasting(ground, key, (now) => unlikeBorn(ground, { ...after, ...now }, first))).length === 0) return [];
  company.fresh.delete(nameOf(after.document));
  const second = await start();
  const now = { ...after, ...standingNow(ground, key) };
  return alarmOf('differential', unlikeBorn(ground, now, second));
}

/** What is still to be said after a while: the first silence counts. */
async function lasting(
  ground: Ground,
  key: Key,
  complaints: (now: Pick<Look, 'state' | 'ready'>) => string[],
): Promise<string[]> {
  const end = performance.now() + ground.patience / 4;
  for (;;) {
    const found = complaints(standingNow(ground, key));
    if (found.length === 0 || performance.now() > end) return found;
    await pause(250);
  }
}

function unlikeBorn(ground: Ground, after: Look, fresh: Look): string[] {
  const expected = after.ready === fresh.ready ? [] : [`it is ${wordFor(after)}, but born so it is ${wordFor(fresh)}`];
  return [...expected, ...unlike(ground, after, fresh)];
}

const wordFor = ({ ready }: Pick<Standing, 'ready'>): string => (ready ? 'Ready' : 'not Ready');

/** Fields in which two lives differ; while either waits only some count. */
function unlike(ground: Ground, found: Look, expected: Look): string[] {
  const part = found.ready && expected.ready ? (state: State) => state : waitingPart;
  const steady = ground.masks.filter(({ when }) => !when);
  const masks = [...steady, ...found.masks, ...expected.masks];
  return differences(part(found.state), part(expected.state), { masks, share: ground.share });
}

/** Back to what was before: it must be as it was. */
async function takenBack({ ground, properties }: Company, walker: Walker, after: Standing): Promise<Alarm[]> {
  const { key, standing: before } = walker;
  const back = await ask(ground, key, { document: before.document, before: after, properties });
  if ('refused' in back)
    return alarmOf(
      'rollback',
      back.refused.map(({ message }) => message),
    );
  const found = await lasting(ground, key, (now) => [
    ...(now.ready === before.ready ? [] : [`it was ${wordFor(before)} and is ${wordFor(now)}`]),
    ...unlike(ground, { ...back, ...now }, before),
  ]);
  walker.standing = { ...back, ...standingNow(ground, key) };
  return [...back.alarms, ...alarmOf('rollback', found)];
}
