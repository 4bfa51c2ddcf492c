// Pods that no node takes: the scheduler finds none, or the chosen one refuses.

import { archLabel, type Pod } from '../pod.ts';
import { type Judge, nameOf } from './cause.ts';
import { nodeOf } from './containers.ts';
import { adviceFor, sentence } from './words.ts';

const unselected = 'check nodeSelector against the labels of the nodes';

const advice = [
  [
    /unbound immediate PersistentVolumeClaims|persistentvolumeclaim ".*" (not found|is being deleted)/,
    'look at its claim',
  ],
  [/volume node affinity conflict/, 'its volume lives where it may not run'],
  [/Insufficient|Too many pods|free ports/, 'add capacity, or ask for less'],
  [/untolerated taint/, 'add a toleration, or a node without the taint'],
  [
    /didn't match pod affinity rules/,
    'it must run on the node of the pods that share its volume, and that node does not take it',
  ],
  [/node affinity\/selector|didn't match node selector/, unselected],
] as const;

/** The scheduler's own words. */
export const unschedulable: Judge = (pod) => {
  const placed = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (placed?.status !== 'False' || placed.reason === 'SchedulingGated') return undefined;
  const object = nameOf(pod);
  const words = placed.message ?? '';
  const known = adviceFor(words, advice);
  const arch = known === unselected ? archOf(pod) : undefined;
  const message = sentence(`${object} cannot be scheduled`, words, arch?.advice ?? known);
  return { reason: arch?.alone ? 'UnsupportedCPU' : 'Unschedulable', message, object };
};

/** The architecture that a pod asks of its node: where it asks for nothing else, it is what no node has. */
function archOf({ spec }: Pod): { alone: boolean; advice: string } | undefined {
  const labels = (spec['nodeSelector'] ?? {}) as Record<string, string>;
  const { [archLabel]: arch, ...others } = labels;
  if (arch === undefined) return undefined;
  const built = `the image of the server is built for ${arch}: add such a node, or name an image for other nodes in server.image`;
  const alone = Object.keys(others).length === 0;
  return { alone, advice: alone ? built : `${unselected}; ${built}` };
}

/** A kubelet refused what the scheduler gave it, because a device or other capacity was gone in the meantime. */
export const refused: Judge = (pod) => {
  const { phase, reason, message = '' } = pod.status ?? {};
  if (phase !== 'Failed' || !message.startsWith('Pod was rejected')) return undefined;
  const object = nameOf(pod);
  const words = `${reason ?? 'Rejected'}: ${message.replace(/^Pod was rejected:? ?/, '')}`;
  return { reason: 'Unschedulable', message: sentence(`${object} was refused by ${nodeOf(pod)}`, words), object };
};
