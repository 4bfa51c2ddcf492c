// How far each node is: KMM tells it by labels, and the pods of the consumers by their status. Of a node only that is looked at
// what says something about this object, so that whatever else happens to nodes wakes nobody.

import type { DeviceTemplate } from '../../api/index.ts';
import type { Node, Taint } from '../../objects/index.ts';
import { askedOf } from './asked.ts';
import { isMapped, labelsOf } from './module.ts';

/** A node that the selector means. */
export interface SeenNode {
  name: string;
  /** What bars pods from it, if they do not tolerate it. */
  taint: string | undefined;
  /** What it waits for before a consumer can run; nothing more. */
  lacks: NodeLack | undefined;
  loaded: boolean;
  plugged: boolean;
  kernel: string | undefined;
  /** The version that it is told to load, where there are versions. */
  told: string | undefined;
}

export type NodeLack = 'KernelNotMapped' | 'ModuleNotLoaded' | 'OtherVersion' | 'PluginNotReady' | 'VersionUntold';

/** What a node says about this object; undefined if it is not meant. */
export const viewOf = (object: DeviceTemplate) => {
  const { selector } = object.spec;
  const meant = Object.entries(selector);
  const judge = judgeOf(object);
  return ({ metadata, spec, status }: Node): SeenNode | undefined => {
    const labels = metadata.labels ?? {};
    if (!meant.every(([key, value]) => labels[key] === value)) return undefined;
    const taint = (spec?.taints ?? []).find((one) => bars(one, object));
    return {
      name: metadata.name,
      taint: taint && `${taint.key}:${taint.effect}`,
      ...judge(labels, status?.nodeInfo?.kernelVersion ?? ''),
    };
  };
};

type Judged = Omit<SeenNode, 'name' | 'taint'>;

function judgeOf(object: DeviceTemplate): (labels: Record<string, string>, kernel: string) => Judged {
  const keys = labelsOf(object);
  const { version } = askedOf(object);
  return (labels, kernel) => {
    const running = version === undefined ? undefined : labels[keys.version];
    const isLabelled = keys.loaded in labels;
    const loaded = isLabelled && running === version;
    const plugged = loaded && keys.plugged in labels;
    const told = version === undefined ? undefined : labels[keys.told];
    const isSilent = isLabelled && keys.plugged in labels && !loaded && running === undefined;
    const lacks = lackOf({ isTold: told === version, isSilent, loaded, plugged, mapped: isMapped(object, kernel) });
    return { lacks, loaded, plugged, kernel: lacks === 'KernelNotMapped' ? kernel : undefined, told };
  };
}

/** What an edit leaves without an image is to be unloaded: the labels stay while a consumer holds devices, and tell nothing then. */
function lackOf(node: {
  isTold: boolean;
  mapped: boolean;
  /** Whether KMM is done and does not say with which version: before 2.5 it never did. */
  isSilent: boolean;
  loaded: boolean;
  plugged: boolean;
}): NodeLack | undefined {
  if (!node.isTold) return 'OtherVersion';
  if (!node.mapped) return 'KernelNotMapped';
  if (!node.loaded) return node.isSilent ? 'VersionUntold' : 'ModuleNotLoaded';
  return node.plugged ? undefined : 'PluginNotReady';
}

/** The taint of a node that a person took out of use. */
export const cordon = 'node.kubernetes.io/unschedulable';

const isPassing = ({ key }: Taint): boolean => key.startsWith('node.kubernetes.io/') && key !== cordon;

/** Whether a taint keeps KMM away. The passing ones, which a node gets while it is in trouble, do not. A key of no characters means all. */
function bars(taint: Taint, { spec: { tolerations = [] } }: DeviceTemplate): boolean {
  if (taint.effect === 'PreferNoSchedule' || isPassing(taint)) return false;
  return !tolerations.some(
    ({ key, operator, value, effect }) =>
      (!key || key === taint.key) &&
      (effect === undefined || effect === taint.effect) &&
      (operator === 'Exists' || (value ?? '') === (taint.value ?? '')),
  );
}
