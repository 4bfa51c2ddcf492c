// What pods of a model have in common because of the volume that they share.

import { labelValue, mark, type MLModel } from '../../api/index.ts';
import type { PodSpec, PodTemplate } from '../../objects/index.ts';
import type { Source } from './source.ts';

/** Whether only one node at a time can mount the weights. */
export const isNodeBound = ({ spec }: MLModel, source: Source): source is Extract<Source, { from: 'download' }> =>
  source.from === 'download' && spec.accessMode === 'ReadWriteOnce';

/** Pods that share a volume which only one node can mount belong onto that node: elsewhere they would wait for ever. */
export function together(model: MLModel, source: Source): Partial<PodSpec> {
  if (!isNodeBound(model, source)) return {};
  const labelSelector = { matchLabels: { [mark.weights]: labelValue(source.claim) } };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  return { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

/** Whether pods were rendered to run on one node; a revision says so itself, whatever is asked by now. */
export const isHeldTogether = ({ spec }: PodTemplate): boolean => spec['affinity'] !== undefined;
