// When the rules of a plan act. Each part of a trigger counts its own matches and remembers them, so `all` can join
// what happened at different times; a rule acts on the occasion that completes its trigger. No clock and no socket
// here: occasions go in, actions come out.

import { canonical } from '../../src/base/index.ts';
import { changes } from './classify.ts';
import { happened, isAbout, matches } from './filter.ts';
import {
  type Action,
  type Counting,
  type EventFilter,
  fits,
  type Plan,
  type Rule,
  type Subject,
  type Trigger,
} from './plan.ts';
import type { Call, WatchEvent } from './trace.ts';

/** Something that may set off a rule. `at` is on the same clock as the start of the plan. */
export type Occasion =
  | { subject: 'request'; at: number; call: Call }
  | { subject: 'event'; at: number; event: WatchEvent; object: unknown }
  | { subject: 'time'; at: number };

/**
 * `met`: it has happened. `now`: this very occasion is one of its matches; `open` for a time that has come, which
 * says nothing about the occasion.
 */
interface Standing {
  met: boolean;
  now: boolean | 'open';
}

type Judge = (occasion: Occasion) => Standing;

/** A plan at work. */
export interface Rules {
  /** The actions due on this occasion, in the order of the plan. */
  on(occasion: Occasion): Action[];
  /** How often each rule has acted. */
  firings(): readonly number[];
}

/** Puts a plan to work from `start` on. */
export function makeRules(plan: Plan, start: number): Rules {
  const judges = plan.map(({ when }) => judgeOf(when, start));
  const fired = plan.map(() => 0);
  return {
    firings: () => fired,
    on: (occasion) =>
      plan.flatMap((rule, index) => {
        const { met, now } = judges[index]?.(occasion) ?? never;
        if (!met || now === false || spent(rule, fired[index] ?? 0) || !applies(rule.do, occasion)) return [];
        fired[index] = (fired[index] ?? 0) + 1;
        return [rule.do];
      }),
  };
}

/** The times at which a plan must be looked at although nothing happened. */
export function timesOf(plan: Plan): number[] {
  const inside = (when: Trigger): number[] => {
    if ('after' in when) return [when.after];
    if ('all' in when) return when.all.flatMap(inside);
    return 'any' in when ? when.any.flatMap(inside) : [];
  };
  return plan.flatMap(({ when }) => inside(when));
}

const never: Standing = { met: false, now: false };

const spent = ({ times = 1 }: Rule, count: number): boolean => times !== 'always' && count >= times;

/** Old data is fair only where the caller accepted it, and only a WatchList can be left without its end. */
function applies(action: Action, occasion: Occasion): boolean {
  if (!fits(action, occasion.subject)) return false;
  if (action.kind === 'serveOld') return occasion.subject === 'request' && occasion.call.resourceVersion === '0';
  if (action.kind === 'silentWatchList') return occasion.subject === 'request' && occasion.call.sendInitialEvents;
  return true;
}

function judgeOf(when: Trigger, start: number): Judge {
  if ('request' in when)
    return counted('request', when, (seen) => seen.subject === 'request' && matches(when.request, seen.call));
  if ('write' in when)
    return counted(
      'request',
      when,
      (seen) => seen.subject === 'request' && changes(seen.call) && matches(when.write, seen.call),
    );
  if ('event' in when) return counted('event', when, eventMatch(when.event));
  if ('after' in when) return ({ at }) => (at - start >= when.after ? { met: true, now: 'open' } : never);
  if ('all' in when) return allOf(when.all.map((part) => judgeOf(part, start)));
  return anyOf(when.any.map((part) => judgeOf(part, start)));
}

function counted(subject: Subject, { nth = 1, every = 1 }: Counting, match: (seen: Occasion) => boolean): Judge {
  let count = 0;
  return (occasion) => {
    const hit = occasion.subject === subject && match(occasion);
    if (hit) count++;
    return { met: count >= nth, now: hit && count >= nth && (count - nth) % every === 0 };
  };
}

const allOf =
  (parts: Judge[]): Judge =>
  (occasion) => {
    const standings = parts.map((part) => part(occasion));
    const now =
      standings.some((part) => part.now === true) || (standings.every((part) => part.now === 'open') && 'open');
    return { met: standings.every((part) => part.met), now };
  };

const anyOf =
  (parts: Judge[]): Judge =>
  (occasion) => {
    const met = parts.map((part) => part(occasion)).filter((part) => part.met);
    return {
      met: met.length > 0,
      now: met.some((part) => part.now === true) || (met.some((part) => part.now === 'open') && 'open'),
    };
  };

/** Remembers the field's value of every object that the filter is about, so that a change of it can be told. */
function eventMatch(filter: EventFilter): (seen: Occasion) => boolean {
  const values = new Map<string, string>();
  return (seen) => {
    if (seen.subject !== 'event' || !isAbout(filter, seen.event)) return false;
    const changed = filter.field === undefined || fieldChanged(filter.field, seen, values);
    return changed && happened(filter, seen.event);
  };
}

function fieldChanged(
  { path, before, after }: NonNullable<EventFilter['field']>,
  { event, object }: Occasion & { subject: 'event' },
  values: Map<string, string>,
): boolean {
  const key = `${event.watch} ${event.namespace}/${event.name}`;
  const earlier = values.get(key) ?? 'null';
  const current = canonical(valueAt(object, path) ?? null);
  values.set(key, current);
  return earlier !== current && asked(before, earlier) && asked(after, current);
}

const valueAt = (object: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null | undefined)?.[key], object);

const asked = (wanted: unknown, value: string): boolean => wanted === undefined || canonical(wanted) === value;
