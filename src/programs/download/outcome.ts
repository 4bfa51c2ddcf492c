// How a download can end badly. A refusal is final: the same order would end the same way. A fault may pass: the network,
// a server that is busy, a source that changed under our hands. Messages are for people, and name no secret.

import type { Verdict } from '../../api/contract.ts';

/** A verdict: nobody should try again before something is changed. */
export class Refused extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'Refused';
    this.verdict = verdict;
  }
}

/** Something that may pass. `again: 'never'`: not by asking once more within this run. */
export class Fault extends Error {
  /** Milliseconds that the other side asked us to wait. */
  readonly retryAfter: number | undefined;
  readonly again: 'soon' | 'never';

  constructor(message: string, { cause, retryAfter, again = 'soon' }: FaultOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'Fault';
    this.retryAfter = retryAfter;
    this.again = again;
  }
}

interface FaultOptions {
  cause?: unknown;
  retryAfter?: number | undefined;
  again?: 'soon' | 'never';
}

/** The source is not what it was when we began: everything fetched so far is worthless. */
export class Changed extends Fault {}
