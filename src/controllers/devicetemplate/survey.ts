// Where everything is: nodes as KMM labels them and their consumers, counted and in the order of their names. With Roles only
// nodes cannot be seen; then KMM's own counts and the pods have to do.

import { type DeviceTemplate, mark } from '../../api/index.ts';
import type { Facts, Observed } from '../../kube/define.ts';
import {
  type Cause,
  type ContainerStatus,
  DaemonSet,
  isPodReady,
  makerEventCause,
  Module,
  Node,
  notReadyCause,
  Pod,
  podCause,
} from '../../objects/index.ts';
import { consumerName } from './consumer.ts';
import type { DeviceFacts } from './facts.ts';
import { moduleName } from './module.ts';
import { type SeenNode, viewOf } from './nodes.ts';
import type { Revision } from './revision.ts';

/** A node that has a consumer, or should have. */
export interface Place {
  node: string;
  state: SeenNode['lacks'] | 'Starting' | 'Ready';
  kernel?: string;
  /** Whether a consumer of another revision is still there. */
  former: boolean;
  pod?: Pod;
  /** What keeps the pod. */
  cause?: Cause;
}

export interface Counts {
  matching: number;
  loaded: number;
  plugged: number;
  ready: number;
}

export interface Survey {
  /** Undefined before anybody has counted. */
  counts: Counts | undefined;
  places: Place[];
  /** Nodes that the selector means and a taint bars. */
  barred: SeenNode[];
  /** Why there are no pods at all. */
  unmade: Cause | undefined;
  /** How many consumers answer, of whatever revision. */
  answering: number;
  /** The versions that nodes are told to load; undefined where nodes cannot be seen. */
  versions: ReadonlySet<string | undefined> | undefined;
}

/** How far all of it is. */
export function surveyOf(object: DeviceTemplate, asked: Revision, seen: Observed, facts: Facts<DeviceFacts>): Survey {
  const nodes = seen.each(Node, viewOf(object));
  const open = nodes?.filter(({ taint }) => taint === undefined);
  const byNode = Map.groupBy(seen.labelled(Pod), nodeOf);
  const hash = asked.template.metadata?.labels?.[mark.revision] ?? '';
  const places = (open ?? [...byNode.keys()].toSorted().map(unseen)).map((node) =>
    placeOf(node, byNode.get(node.name) ?? [], hash),
  );
  const ready = places.filter(({ state }) => state === 'Ready').length;
  const [module, consumers] = [seen.get(Module, moduleName(object)), seen.get(DaemonSet, consumerName(object))];
  return {
    counts: open ? { ...counted(open, module), ready } : told(module, consumers, ready),
    places,
    barred: nodes?.filter(({ taint }) => taint !== undefined) ?? [],
    unmade: unmadeOf(consumers, facts),
    answering: seen.labelled(Pod).filter((pod) => isPodReady(pod) && isStaying(pod)).length,
    versions: nodes && new Set(nodes.map((node) => node.told)),
  };
}

/** A node of which only its pod tells. */
const unseen = (name: string): SeenNode => ({
  name,
  taint: undefined,
  lacks: undefined,
  loaded: true,
  plugged: true,
  kernel: undefined,
  told: undefined,
});

/** A label stays while KMM waits to load the module in another way: then only KMM's own count tells. */
function counted(open: readonly SeenNode[], module: Module | undefined) {
  const { moduleLoader } = module?.status ?? {};
  const most = moduleLoader ? (moduleLoader.availableNumber ?? 0) : open.length;
  return {
    matching: open.length,
    loaded: Math.min(most, open.filter(({ loaded }) => loaded).length),
    plugged: Math.min(most, open.filter(({ plugged }) => plugged).length),
  };
}

/** What KMM has counted, if any. It does not say when: consumers may be asked for on more nodes than it had found by then. */
function told(module: Module | undefined, consumers: DaemonSet | undefined, ready: number): Counts | undefined {
  const { moduleLoader, devicePlugin } = module?.status ?? {};
  const matching = moduleLoader?.nodesMatchingSelectorNumber;
  if (matching === undefined) return undefined;
  return {
    matching: Math.max(matching, consumers?.status?.desiredNumberScheduled ?? 0),
    loaded: moduleLoader?.availableNumber ?? 0,
    plugged: devicePlugin?.availableNumber ?? 0,
    ready,
  };
}

function placeOf({ name: node, lacks, kernel }: SeenNode, pods: readonly Pod[], hash: string): Place {
  const staying = pods.filter(isStaying);
  const current = staying.filter(({ metadata }) => metadata.labels?.[mark.revision] === hash);
  const pod = current.find(isPodReady) ?? current[0] ?? staying[0];
  const former = current.length < staying.length;
  if (lacks) return { node, state: lacks, former, ...(kernel !== undefined && { kernel }), ...(pod && { pod }) };
  if (!pod) return { node, state: 'Starting', former };
  if (current.some(isPodReady) && !former) return { node, state: 'Ready', former, pod };
  const cause = podCause(pod);
  return { node, state: 'Starting', former, pod, ...(cause && { cause }) };
}

const isStaying = ({ metadata }: Pod): boolean => metadata.deletionTimestamp === undefined;

interface Affinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: {
      nodeSelectorTerms: { matchFields?: { key: string; values?: string[] }[] }[];
    };
  };
}

/** The node of a pod; one that no scheduler has placed yet says for which it was made. */
function nodeOf({ spec }: Pod): string {
  const { nodeAffinity } = (spec['affinity'] ?? {}) as Affinity;
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const field = terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key }) => key === 'metadata.name');
  return spec.nodeName ?? field?.values?.[0] ?? '';
}

function unmadeOf(consumers: DaemonSet | undefined, { makerEvents }: Facts<DeviceFacts>): Cause | undefined {
  return consumers && makerEvents.state === 'known' ? makerEventCause(consumers, makerEvents.value) : undefined;
}

/** How many seconds a consumer that does not start may take. */
export const patience = 600;

/** Since when a consumer is not ready. One that crashes over and over is ready for a moment each time: it has the time of its pod. */
export function unreadySince({ metadata: { creationTimestamp }, status }: Pod): string | undefined {
  const { conditions = [], containerStatuses = [] } = status ?? {};
  if (containerStatuses.some(isLooping)) return creationTimestamp;
  return conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? creationTimestamp;
}

const isLooping = ({ restartCount, lastState }: ContainerStatus): boolean => {
  const { startedAt, finishedAt } = lastState?.terminated ?? {};
  return restartCount > 5 && Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '') < patience * 1_000;
};

/** What a consumer waits for that nothing keeps. */
export const waiting = ({ pod }: Place): Cause | undefined => (pod ? notReadyCause([pod]) : undefined);

/** What is told first: what a person can mend, then what takes its time. */
const order = ['KernelNotMapped', 'OtherVersion', 'VersionUntold', 'Starting', 'ModuleNotLoaded', 'PluginNotReady'];

/** Nodes that are not ready, the worst first. */
export const worstOf = ({ places }: Pick<Survey, 'places'>): Place[] =>
  places.filter(({ state }) => state !== 'Ready').toSorted((a, b) => rank(a) - rank(b) || (a.node < b.node ? -1 : 1));

const rank = ({ state, cause }: Place): number => (cause ? -1 : order.indexOf(state ?? ''));
