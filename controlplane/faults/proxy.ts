// A TLS proxy in front of the real API server that does what a plan says: loses, delays, refuses, cuts, freezes. It
// passes on the caller's own token, so the operator keeps its own rights. TCP connections are accepted here and then
// handed to the TLS server, because only their owner can reset them.

import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../../src/base/index.ts';
import { makeAuthority } from '../certificates.ts';
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
  /** No plan: releases what is held, delivers what is frozen. What hangs, hangs on. */
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
export async function startFaultProxy({
  upstream,
  plan,
  operator,
  clock = systemClock,
}: FaultProxyOptions): Promise<FaultProxy> {
  const authority = makeAuthority(clock.now());
  const { certificate: cert, key } = authority.issue({
    name: 'fault-proxy',
    addresses: ['127.0.0.1', 'localhost'],
  });
  const parts = {
    recorder: makeRecorder(),
    upstream: makeUpstream(upstream),
    watches: makeWatches(),
    holds: makeHolds(),
  };
  const rig = makeRig({ clock, ...parts });
  const door = await openDoor(createServer({ cert, key, requestTimeout: 0, keepAliveTimeout: 300_000 }), rig);
  const { holds, watches, recorder } = parts;
  if (plan) rig.setPlan(plan, operator);
  return {
    url: door.url,
    caPem: authority.certificate,
    trace: recorder.trace,
    kubeconfig: (token) => kubeconfigText(door.url, authority.certificate, token),
    setPlan: (next, process) => rig.setPlan(next, process ?? operator),
    clearPlan() {
      rig.setPlan([]);
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
      await Promise.all([door.close(), parts.upstream.close()]);
    },
  };
}

interface Door {
  url: string;
  close(): Promise<void>;
}

async function openDoor(secure: Server, rig: Rig): Promise<Door> {
  const sockets = new Map<number | undefined, Socket>();
  const door = createTcpServer((socket) => {
    const { remotePort } = socket;
    sockets.set(remotePort, socket);
    socket.setNoDelay(true).once('close', () => sockets.delete(remotePort));
    secure.emit('connection', socket);
  });
  secure.on('request', (request, response) => {
    const reset = () => void sockets.get(request.socket.remotePort)?.resetAndDestroy();
    surprising(serve({ rig, request, response, reset }));
  });
  await new Promise<void>((ready, failed) => door.once('error', failed).listen(0, '127.0.0.1', ready));
  return {
    url: `https://127.0.0.1:${(door.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((done) => door.close(done));
      for (const socket of sockets.values()) socket.destroy();
      await closed;
    },
  };
}

interface Visit {
  rig: Rig;
  request: IncomingMessage;
  response: ServerResponse;
  reset: () => void;
}

async function serve({ rig, request, response, reset }: Visit): Promise<void> {
  const at = rig.clock.monotonic();
  response.on('error', () => {});
  const outlet = makeOutlet({ response, clock: rig.clock, reset });
  const outgoing = await receive(request).catch(() => undefined);
  if (outgoing === undefined) return reset();
  const call = rig.recorder.call(describe(outgoing, at));
  await exchange({ rig, call, outlet }, outgoing);
}
