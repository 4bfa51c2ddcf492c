// Pods, with the fields of their spec that we read and write and the status that a kubelet keeps. A kubelet leaves out
// what it has nothing to say about, so nearly everything in a status may be missing.

import { type LooseCondition } from './condition.ts';
import { kindOf, type KubeObject } from './kind.ts';

/** On nodes: the architecture of their CPUs. */
export const archLabel = 'kubernetes.io/arch';

/** On pods: the architecture that we ask of their node, because the image of the server is built for no other. */
export const builtFor = 'baton.dev/built-for';

/** A container as it is asked for. */
export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: unknown }[];
  [field: string]: unknown;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  restartPolicy?: string;
  [field: string]: unknown;
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
}

/** How a container is right now, or was before its last restart. At most one of the three is there. */
export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: ContainerEnd;
}

/** How a container ended. */
export interface ContainerEnd {
  exitCode: number;
  signal?: number;
  reason?: string;
  /** What the program left behind as its last word, or the end of its log. */
  message?: string;
  startedAt?: string | null;
  finishedAt?: string | null;
  containerID?: string;
}

/** A container as it runs. */
export interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  /** Whether its startup probe has succeeded in this run. */
  started?: boolean;
  image?: string;
  imageID?: string;
  containerID?: string;
  state?: ContainerState;
  lastState?: ContainerState;
  [field: string]: unknown;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    startTime?: string;
    hostIP?: string;
    podIP?: string;
    conditions?: LooseCondition[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
    [field: string]: unknown;
  };
}

export const Pod = kindOf<Pod>('v1', 'Pod', 'pods');

/** The condition of a pod, if it is there. */
export const podCondition = ({ status }: Pod, type: string): LooseCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

/** Whether a pod answers, as its kubelet says. */
export const isPodReady = (pod: Pod): boolean => podCondition(pod, 'Ready')?.status === 'True';
