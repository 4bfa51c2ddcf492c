// The way back to the caller: an answer leaves here whole, slowly, cut short, in chosen pieces, or not at all. What is
// written keeps its order, also while a slow piece is under way.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type Clock, sleep } from '../../src/base/index.ts';

/** How an answer is spoiled on its way out. */
export interface Spoiling {
  truncate?: { bytes: number; end: 'cut' | 'clean' };
  drip?: { bytes: number; ms: number };
}

export interface Outlet {
  /** Leaves with the first bytes, or by `flushHead`. */
  head(status: number, headers: IncomingHttpHeaders): void;
  flushHead(): void;
  write(bytes: Buffer): void;
  /** Whether the caller is slow to take it. */
  full(): boolean;
  /** Each part in packets of its own. */
  writeApart(parts: readonly Buffer[]): void;
  end(): void;
  /** Breaks the connection, with a TCP reset. */
  reset(): void;
  /** To be called before `head`. */
  spoil(how: Spoiling): void;
  onDrain(run: () => void): void;
  /** The last byte is on its way to the caller. */
  onEnd(run: () => void): void;
  /** The whole answer is with the caller's machine. */
  onDelivered(run: () => void): void;
  /** The caller left before that. */
  onGone(run: () => void): void;
}

export interface OutletOptions {
  response: ServerResponse;
  clock: Clock;
  reset: () => void;
}

const apartMs = 2;

/** The outlet of one answer. */
export function makeOutlet({ response, clock, reset }: OutletOptions): Outlet {
  const steps = inOrder();
  let { truncate, drip }: Spoiling = {};
  let left = Number.POSITIVE_INFINITY;
  let told: (() => void) | undefined;

  const cut = () => response.socket?.destroySoon();
  const slowly = async (parts: readonly Buffer[], ms: number) => {
    for (const [index, part] of parts.entries()) {
      if (index > 0) await sleep(clock, ms);
      if (response.destroyed) return;
      response.write(part);
    }
  };
  const emit = (bytes: Buffer): void | Promise<void> => {
    const part = bytes.subarray(0, left);
    left -= part.length;
    if (drip) return slowly(pieces(part, drip.bytes), drip.ms);
    if (part.length > 0) response.write(part);
  };
  const stop = () => {
    left = -1;
    if (truncate?.end === 'cut') cut();
    else response.end();
  };
  const finish = () => {
    if (left < 0) return;
    told?.();
    response.end();
  };
  const write = (bytes: Buffer) => {
    steps(() => (left < 0 ? undefined : emit(bytes)));
    if (truncate) steps(() => (left === 0 ? stop() : undefined));
  };
  return {
    head(status, headers) {
      const { 'content-length': _, ...unsized } = headers;
      response.writeHead(status, truncate?.end === 'clean' ? unsized : headers);
    },
    flushHead: () => response.flushHeaders(),
    write,
    full: () => response.writableNeedDrain,
    writeApart: (parts) => steps(() => slowly(parts, apartMs)),
    end: () => steps(finish),
    reset: () => steps(reset),
    spoil(how) {
      ({ truncate = truncate, drip = drip } = how);
      left = truncate?.bytes ?? left;
    },
    onDrain: (run) => void response.once('drain', run),
    onEnd: (run) => void (told = run),
    onDelivered: (run) => void response.once('finish', run),
    onGone: (run) => void response.once('close', () => response.writableFinished || run()),
  };
}

type Step = () => void | Promise<void>;

/** Runs steps one after the other; a step that needs no time runs at once when nothing is before it. */
function inOrder(): (step: Step) => void {
  const waiting: Step[] = [];
  let busy = false;
  const run = (step: Step): void => {
    const under = step();
    if (!(under instanceof Promise)) return;
    busy = true;
    void under.finally(next);
  };
  const next = () => {
    busy = false;
    const steps = waiting.splice(0);
    for (const step of steps) take(step);
  };
  const take = (step: Step) => void (busy ? waiting.push(step) : run(step));
  return take;
}

const pieces = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
