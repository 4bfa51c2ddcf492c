// The door of the folder: a proxy that breaks the way to the API server by plan, and tells what went through.

export { changes, classify, type Target } from './classify.ts';
export type { Action, AnytimeAction, CallFilter, EventFilter, Plan, Rule, Trigger } from './plan.ts';
export { type FaultProxy, type FaultProxyOptions, startFaultProxy } from './proxy.ts';
export type { OperatorProcess } from './rig.ts';
export type { Refusal } from './statuses.ts';
export type { Answer, Call, Stretch, Trace, WatchEvent } from './trace.ts';
