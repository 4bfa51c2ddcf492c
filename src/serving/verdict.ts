// One condition before it has its times, and what every status begins with.

import type { CommonStatus, Condition, KubeObject } from '../objects/index.ts';

export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** A condition that holds or does not. */
export const verdict = (type: string, holds: boolean, reason: string, message: string): Verdict => ({
  type,
  status: holds ? 'True' : 'False',
  reason,
  message,
});

/** What every status begins with: where the object stands, all of it said about the generation that is there now. */
export function commonStatusOf(
  { metadata }: KubeObject,
  { phase, message, verdicts }: { phase: string; message: string; verdicts: readonly Verdict[] },
): Required<CommonStatus> {
  const observedGeneration = metadata.generation ?? 0;
  return { observedGeneration, phase, message, conditions: verdicts.map((one) => ({ ...one, observedGeneration })) };
}
