// The life of a model as somebody sees it who looks on: one line a state, and in the end a verdict.

import type { MLModel } from '../../src/api/index.ts';
import { conditionOf } from '../../src/objects/index.ts';

/** What there is to see: goes on, is Ready for what is asked now, or needs a person. */
export interface Sight {
  phase: string;
  download: NonNullable<MLModel['status']>['download'];
  line: string;
  verdict: 'going on' | 'ready' | 'stalled';
}

/** What a model looks like at this moment; how far its download is stays in sight until the phase is another. */
export function sightOf({ metadata, status }: MLModel, before?: Sight): Sight {
  const { phase = 'Applied', message = 'The operator has not looked at it yet' } = status ?? {};
  const download = status?.download ?? (before?.phase === phase ? before.download : undefined);
  const percent = download?.percent === undefined ? '' : `${download.percent} %`;
  const line = `${phase.padEnd(15)} ${percent.padStart(5)}  ${message}${amountOf(download)}`;
  const current = (type: string) => {
    const condition = conditionOf(status, type);
    return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
  };
  if (current('Ready')) return { phase, download, line, verdict: 'ready' };
  return { phase, download, line, verdict: current('Stalled') ? 'stalled' : 'going on' };
}

const units = { MiB: 2 ** 20, KiB: 2 ** 10, bytes: 1 } as const;

/** Both amounts in the largest unit of which there is at least one. */
function amountOf(download: Sight['download']): string {
  if (download?.total === undefined) return '';
  const { bytes, total } = download;
  const [unit, size] = Object.entries(units).find(([, one]) => total >= one) ?? ['bytes', 1];
  return `, ${Math.round(bytes / size)}/${Math.round(total / size)} ${unit}`;
}
