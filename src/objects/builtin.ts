// Kubernetes' own kinds, with the fields that we touch. Objects stay plain JSON: an unknown field is kept, not lost.

import { type Condition, type LooseCondition } from './condition.ts';
import { clusterKindOf, kindOf, type KubeObject } from './kind.ts';
import { type PodTemplate } from './pod.ts';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

export interface Deployment extends KubeObject {
  spec: {
    replicas?: number;
    selector: { matchLabels: Record<string, string> };
    template: PodTemplate;
    [field: string]: unknown;
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    conditions?: Condition[];
  };
}

export interface DaemonSet extends KubeObject {
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: PodTemplate;
    [field: string]: unknown;
  };
  status?: {
    observedGeneration?: number;
    desiredNumberScheduled?: number;
    currentNumberScheduled?: number;
    updatedNumberScheduled?: number;
    numberReady?: number;
    numberAvailable?: number;
    [field: string]: unknown;
  };
}

export interface Job extends KubeObject {
  spec: { template: PodTemplate; backoffLimit?: number; activeDeadlineSeconds?: number; [field: string]: unknown };
  status?: {
    succeeded?: number;
    failed?: number;
    active?: number;
    startTime?: string;
    conditions?: Condition[];
    [field: string]: unknown;
  };
}

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export interface KubeEvent extends KubeObject {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  involvedObject: { apiVersion: string; kind: string; name: string; namespace?: string; uid?: string };
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  /** Writers of the newer kind of event leave the two times above empty and use this one. */
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string };
  reportingComponent?: string;
  reportingInstance?: string;
  source?: { component?: string; host?: string };
}

export interface Service extends KubeObject {
  spec: {
    type?: string;
    clusterIP?: string;
    selector?: Record<string, string>;
    ports?: ServicePort[];
    [field: string]: unknown;
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}

export interface ServicePort {
  name?: string;
  port: number;
  targetPort?: number | string;
  nodePort?: number;
  protocol?: string;
  appProtocol?: string;
}

export interface PersistentVolumeClaim extends KubeObject {
  spec: {
    accessModes?: string[];
    resources?: { requests?: { storage?: string } };
    storageClassName?: string;
    volumeName?: string;
    volumeMode?: string;
    [field: string]: unknown;
  };
  status?: {
    phase?: 'Pending' | 'Bound' | 'Lost';
    accessModes?: string[];
    capacity?: { storage?: string };
    conditions?: LooseCondition[];
    [field: string]: unknown;
  };
}

export interface StorageClass extends KubeObject {
  provisioner: string;
  volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer';
  allowVolumeExpansion?: boolean;
  reclaimPolicy?: string;
  parameters?: Record<string, string>;
}

export interface ControllerRevision extends KubeObject {
  revision: number;
  data?: unknown;
}

export interface PodDisruptionBudget extends KubeObject {
  spec: {
    minAvailable?: number | string;
    maxUnavailable?: number | string;
    selector?: { matchLabels?: Record<string, string> };
    [field: string]: unknown;
  };
  status?: {
    observedGeneration?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    expectedPods?: number;
    disruptionsAllowed?: number;
    conditions?: Condition[];
  };
}

export interface HorizontalPodAutoscaler extends KubeObject {
  spec: {
    scaleTargetRef: { apiVersion: string; kind: string; name: string };
    minReplicas?: number;
    maxReplicas: number;
    metrics?: object[];
    [field: string]: unknown;
  };
  status?: { conditions?: LooseCondition[]; [field: string]: unknown };
}

/** What keeps pods from a node that do not tolerate it. */
export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

export interface Node extends KubeObject {
  spec?: { taints?: Taint[]; [field: string]: unknown };
  status?: {
    nodeInfo?: {
      kubeletVersion?: string;
      containerRuntimeVersion?: string;
      kernelVersion?: string;
      [field: string]: unknown;
    };
    [field: string]: unknown;
  };
}

export const ConfigMap = kindOf<ConfigMap>('v1', 'ConfigMap', 'configmaps');
export const Secret = kindOf<Secret>('v1', 'Secret', 'secrets');
export const KubeEvent = kindOf<KubeEvent>('v1', 'Event', 'events');
export const Service = kindOf<Service>('v1', 'Service', 'services');
export const PersistentVolumeClaim = kindOf<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);
export const Node = clusterKindOf<Node>('v1', 'Node', 'nodes');
export const Namespace = clusterKindOf<KubeObject>('v1', 'Namespace', 'namespaces');
export const Deployment = kindOf<Deployment>('apps/v1', 'Deployment', 'deployments');
export const DaemonSet = kindOf<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets');
export const ControllerRevision = kindOf<ControllerRevision>('apps/v1', 'ControllerRevision', 'controllerrevisions');
export const Job = kindOf<Job>('batch/v1', 'Job', 'jobs');
export const Lease = kindOf<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');
export const PodDisruptionBudget = kindOf<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export const HorizontalPodAutoscaler = kindOf<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
);
export const StorageClass = clusterKindOf<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses');
