// What all requests of one proxy share: the trace, the plan in force, the open watches, the held requests, the way to
// the API server, and the operator process that a plan may hit.

import type { Clock } from '../../src/base/index.ts';
import { checkPlan } from './check.ts';
import type { Door } from './door.ts';
import type { Holds } from './holds.ts';
import { type Action, concernsEvents, onOperator, onWatches, type Plan } from './plan.ts';
import type { WatchStream } from './stream.ts';
import type { Recorder } from './trace.ts';
import { makeRules, type Occasion, type Rules, timesOf } from './triggers.ts';
import type { Upstream } from './upstream.ts';
import type { Watches } from './watches.ts';

/** The operator under test, as the plan can hit it. */
export interface OperatorProcess {
  kill(): void | Promise<void>;
  pause(): void | Promise<void>;
  resume(): void | Promise<void>;
}

export interface Rig {
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly upstream: Upstream;
  readonly watches: Watches;
  readonly holds: Holds;
  readonly door: Pick<Door, 'become'>;
  /** The actions that this occasion sets off. */
  occur(occasion: Occasion): Action[];
  /** Whether the plan in force looks at single watch events. */
  watched(): boolean;
  /** Whether it may show them again, so that they have to be kept. */
  replays(): boolean;
  /** Carries out what concerns watches, held requests or the operator; other actions are left to whoever has the request. */
  perform(action: Action, own?: WatchStream): void | Promise<void>;
  setPlan(plan: Plan, operator?: OperatorProcess): void;
  firings(): readonly number[];
  /** Forgets the timers of the plan. */
  stop(): void;
}

export type RigParts = Pick<Rig, 'clock' | 'recorder' | 'upstream' | 'watches' | 'holds' | 'door'>;

interface InForce {
  start: number;
  rules: Rules;
  empty: boolean;
  watched: boolean;
  replays: boolean;
  operator: OperatorProcess | undefined;
  timers: (() => void)[];
}

/** A rig without a plan. */
export function makeRig(parts: RigParts): Rig {
  const { clock, watches, holds } = parts;
  let now = inForce([], clock);
  const perform = (action: Action, own?: WatchStream): void | Promise<void> => {
    if (onWatches(action)) return watches.act(action, own);
    if (onOperator(action)) return now.operator?.[action.kind]();
    if (action.kind === 'connections') return parts.door.become(action.manner);
    return action.kind === 'release' ? holds.release(action.name) : undefined;
  };
  const occur = (occasion: Occasion) => (now.empty ? [] : now.rules.on(occasion));
  const tick = (at: number) => occur({ subject: 'time', at }).forEach((action) => surprising(perform(action)));
  const stop = () => now.timers.splice(0).forEach((cancel) => cancel());
  return {
    ...parts,
    perform,
    occur,
    stop,
    watched: () => now.watched,
    replays: () => now.replays,
    firings: () => now.rules.firings(),
    setPlan(plan, operator) {
      checkPlan(plan);
      checkOperator(plan, operator ?? now.operator);
      stop();
      now = inForce(plan, clock, operator ?? now.operator);
      const { start } = now;
      now.timers.push(...timesOf(plan).map((ms) => clock.after(ms, () => tick(start + ms))));
    },
  };
}

function inForce(plan: Plan, clock: Clock, operator?: OperatorProcess): InForce {
  const start = clock.monotonic();
  const rules = makeRules(plan, start);
  const replays = plan.some((rule) => rule.do.kind === 'replayOlder');
  return { start, rules, empty: plan.length === 0, watched: plan.some(concernsEvents), replays, operator, timers: [] };
}

function checkOperator(plan: Plan, operator: OperatorProcess | undefined): void {
  const index = plan.findIndex((rule) => onOperator(rule.do));
  if (index >= 0 && operator === undefined) throw new TypeError(`rule ${index}: no operator process was given to hit`);
}

/** Lets a failed callback of the test surface as an uncaught error, since nobody waits for it. */
export function surprising(work: void | Promise<void>): void {
  work?.catch((error: unknown) => queueMicrotask(() => raise(error)));
}

function raise(error: unknown): never {
  throw error;
}
