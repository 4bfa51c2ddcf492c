// When a key may run: the rules of the queue, apart from its machinery. An edit is served at once, news soon, and a
// look for safety's sake when there is time; after a failure each waits in its own way. See docs/design/0006-queue.md.

import { type Backoff, delayAfter } from '../base/index.ts';

/** Why a key is added: a person edited the object; something it depends on changed; a look for safety's sake. */
export type Priority = 'edit' | 'change' | 'resync';

/**
 * How much later a key ranks than an edit of the same moment. It is also the ageing: what comes in after this head
 * start is over cannot go before it any more.
 */
export const headStart: Record<Priority, number> = { edit: 0, change: 1_000, resync: 10_000 };

/** News shortens a backoff to this: a mended world is noticed soon, a broken one is not asked in a hot loop. */
const newsDuringBackoff = 1_000;

/** What a key remembers from pass to pass. */
export interface Memory {
  /** Why the next pass is wanted; while one runs, the one after it. */
  wanted: Priority | undefined;
  /** Why the pass that runs was wanted. */
  served: Priority | undefined;
  /** When a look was asked for while a pass runs. */
  look: number;
  /** No pass before this. An edit waits for `editQuietUntil` instead, which only a pass for an edit sets. */
  quietUntil: number;
  editQuietUntil: number;
  failures: number;
  /** The end of the backoff. */
  heldUntil: number;
  /** The server asked not to be asked before this. */
  notBefore: number;
}

/** The memory of a key that nothing is known of. */
export const blank = (): Memory => ({
  wanted: undefined,
  served: undefined,
  look: Infinity,
  quietUntil: 0,
  editQuietUntil: 0,
  failures: 0,
  heldUntil: 0,
  notBefore: 0,
});

/** The more urgent of two reasons. */
export const stronger = (a: Priority | undefined, b: Priority): Priority =>
  a !== undefined && headStart[a] < headStart[b] ? a : b;

/** When a pass for this reason may start, if it is wanted at `at`. What the server asked for holds for every reason. */
export const earliest: Record<Priority, (memory: Memory, at: number) => number> = {
  edit: ({ notBefore, editQuietUntil }, at) => Math.max(at, notBefore, editQuietUntil),
  change: ({ notBefore, quietUntil, heldUntil }, at) =>
    Math.max(at, notBefore, quietUntil, Math.min(heldUntil, at + newsDuringBackoff)),
  resync: ({ notBefore, quietUntil, heldUntil }, at) => Math.max(at, notBefore, quietUntil, heldUntil),
};

/** Remembers a failed pass. */
export function holdBack(
  memory: Memory,
  error: unknown,
  { now, backoff, random }: { now: number; backoff: Backoff; random: () => number },
): void {
  memory.failures++;
  memory.heldUntil = now + delayAfter(memory.failures, backoff, random);
  memory.notBefore = now + retryAfterOf(error);
}

/** Forgets earlier failures. What the server asked for stays: it has passed once a pass could begin. */
export function forgive(memory: Memory): void {
  memory.failures = 0;
  memory.heldUntil = 0;
}

/** Milliseconds that an error, or what caused it, asks to wait. */
function retryAfterOf(error: unknown): number {
  if (!(error instanceof Error)) return 0;
  if ('retryAfter' in error && typeof error.retryAfter === 'number') return error.retryAfter;
  return retryAfterOf(error.cause);
}
