// Pods that no node takes: the scheduler finds none, or the chosen one refuses.

import { archLabel, builtFor, type Pod } from '../pod.ts';
import { type CauseReason, type Judge, nameOf } from './cause.ts';
import { nodeOf } from './containers.ts';
import { adviceFor, sentence } from './words.ts';

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
  [/node affinity\/selector|didn't match node selector/, 'check nodeSelector against the labels of the nodes'],
] as const;

/** What the scheduler looks at only on nodes that have the labels which a pod asks for; taints come before them. */
const withLabels = /Insufficient|Too many pods|free ports|volume node affinity conflict|pod affinity rules/;

/** The scheduler's own words. */
export const unschedulable: Judge = (pod) => {
  const placed = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (placed?.status !== 'False' || placed.reason === 'SchedulingGated') return undefined;
  const object = nameOf(pod);
  const words = placed.message ?? '';
  const { reason, told } = otherArch(pod, words) ?? { reason: 'Unschedulable', told: adviceFor(words, advice) };
  return { reason, message: sentence(`${object} cannot be scheduled`, words, told), object };
};

/** Where nodes lack a label, and we ask for one that no person asked for: if no other is asked and no node has it, that is why. */
function otherArch(pod: Pod, words: string): { reason: CauseReason; told: string } | undefined {
  const arch = pod.metadata.annotations?.[builtFor];
  if (arch === undefined || !words.includes('node affinity/selector')) return undefined;
  const built = `the image of the server is built for ${arch}: add such a node, or name an image for other nodes in server.image`;
  if (withLabels.test(words) || asksForMore(pod))
    return { reason: 'Unschedulable', told: `${adviceFor(words, advice)}; ${built}` };
  const tainted = words.includes('untolerated taint') ? ', or add a toleration if one has the taint' : '';
  return { reason: 'UnsupportedCPU', told: `${built}${tainted}` };
}

const asksForMore = ({ spec }: Pod): boolean =>
  Object.keys(spec.nodeSelector ?? {}).some((label) => label !== archLabel);

/** A kubelet refused what the scheduler gave it, because a device or other capacity was gone in the meantime. */
export const refused: Judge = (pod) => {
  const { phase, reason, message = '' } = pod.status ?? {};
  if (phase !== 'Failed' || !message.startsWith('Pod was rejected')) return undefined;
  const object = nameOf(pod);
  const words = `${reason ?? 'Rejected'}: ${message.replace(/^Pod was rejected:? ?/, '')}`;
  return { reason: 'Unschedulable', message: sentence(`${object} was refused by ${nodeOf(pod)}`, words), object };
};
