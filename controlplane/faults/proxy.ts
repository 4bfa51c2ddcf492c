// A TLS proxy in front of the real API server that does what a plan says: loses, delays, refuses, cuts, freezes. It
// passes on the caller's own token, so the operator keeps its own rights. Here its parts are put together; the life of
// a request is in exchange.ts, that of a watch in stream.ts.

import { type Clock, systemClock } from '../../src/base/index.ts';
import { makeAuthority } from '../certificates.ts';
import { openDoor, type Visit } from './door.ts';
import { exchange } from './exchange.ts';
import { makeHolds } from './holds.ts';
import { describe, receive } from './incoming.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { makeOutlet } from './outlet.ts';
import type { AnytimeAction, Plan } from './plan.ts';
import { makeRig, type OperatorProcess, type Rig, surprising } from './rig.ts';
import { type Call, makeRecorder, type Trace } from './trace.ts';
import { makeUpstream, type UpstreamAddress } from './upstream.ts';
import { makeWatches } from './watches.ts';

export interface FaultProxyOptions {
  upstream: UpstreamAddress;
  plan?: Plan;
  /** Whom `kill`, `pause` and `resume` hit. */
  operator?: OperatorProcess;
  clock?: Clock;
}

export interface FaultProxy {
  readonly url: string;
  /** The authority to trust when calling `url`. */
  readonly caPem: string;
  readonly trace: Trace;
  /** A kubeconfig that leads here with this token. */
  kubeconfig(token: string): string;
  /** Replaces the plan and starts its counts and times anew; what is frozen or held stays so. */
  setPlan(plan: Plan, operator?: OperatorProcess): void;
  /** No plan: accepts connections, releases what is held, delivers what is frozen. What hangs, hangs on. */
  clearPlan(): void;
  /** How often each rule of the plan has acted. */
  firings(): readonly number[];
  /** Does this at once. */
  now(action: AnytimeAction): void | Promise<void>;
  release(name: string): void;
  /** The first request that is held under this name, now or later. */
  holding(name: string): Promise<Call>;
  /** How many watches are open. */
  watches(): number;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of loopback. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { operator, clock = systemClock } = options;
  const authority = makeAuthority(clock.now());
  const door = await openDoor(authority.issue({ name: 'fault-proxy', addresses: ['127.0.0.1', 'localhost'] }));
  const upstream = makeUpstream(options.upstream);
  const recorder = makeRecorder();
  const watches = makeWatches();
  const holds = makeHolds();
  const rig = makeRig({ clock, door, upstream, recorder, watches, holds });
  rig.setPlan(options.plan ?? [], operator);
  door.onVisit((visit) => surprising(serve(rig, visit)));
  return {
    url: door.url,
    caPem: authority.certificate,
    trace: recorder.trace,
    kubeconfig: (token) => kubeconfigText(door.url, authority.certificate, token),
    setPlan: (plan, process) => rig.setPlan(plan, process ?? operator),
    clearPlan() {
      rig.setPlan([]);
      door.become('accept');
      holds.releaseAll();
      watches.normal();
    },
    firings: () => rig.firings(),
    now: (action) => rig.perform(action),
    release: (name) => holds.release(name),
    holding: (name) => holds.holding(name),
    watches: () => watches.count(),
    async stop() {
      rig.stop();
      holds.releaseAll();
      await Promise.all([door.close(), upstream.close()]);
    },
  };
}

async function serve(rig: Rig, { request, response, reset }: Visit): Promise<void> {
  const at = rig.clock.monotonic();
  const outlet = makeOutlet({ response, clock: rig.clock, reset });
  const outgoing = await receive(request).catch(() => undefined);
  if (outgoing === undefined) return reset();
  const call = rig.recorder.call(describe(outgoing, at));
  await exchange({ rig, call, outlet }, outgoing);
}
