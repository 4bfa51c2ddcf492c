// The life of a model as somebody sees it who looks on: one line a state, and in the end a verdict.

import type { MLModel } from '../../src/api/index.ts';
import { conditionOf } from '../../src/objects/index.ts';

/** What there is to see: goes on, is Ready for what is asked now, or needs a person. */
export type Sight = { line: string; verdict: 'going on' | 'ready' | 'stalled' };

/** What a model looks like at this moment. */
export function sightOf({ metadata, status }: MLModel): Sight {
  const { phase = 'New', message = 'Nobody has looked at it yet', download } = status ?? {};
  const percent = download?.percent === undefined ? '' : ` ${download.percent} %`;
  const line = `${`${phase}${percent}`.padEnd(18)}${message}`;
  const current = (type: string) => {
    const condition = conditionOf(status, type);
    return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
  };
  if (current('Ready')) return { line, verdict: 'ready' };
  return { line, verdict: current('Stalled') ? 'stalled' : 'going on' };
}
