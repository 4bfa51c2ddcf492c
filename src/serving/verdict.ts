// One condition before it has its times.

import type { Condition } from '../objects/index.ts';

export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** A condition that holds or does not. */
export const verdict = (type: string, holds: boolean, reason: string, message: string): Verdict => ({
  type,
  status: holds ? 'True' : 'False',
  reason,
  message,
});
