// Kubernetes' own kinds, with the fields that we touch. Objects stay plain JSON: an unknown field is kept, not lost.

import { type Condition } from './condition.ts';
import { type KubeObject, clusterKindOf, kindOf } from './kind.ts';

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
  [field: string]: unknown;
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
}

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

export interface Job extends KubeObject {
  spec: { template: PodTemplate; backoffLimit?: number; [field: string]: unknown };
  status?: { succeeded?: number; failed?: number; active?: number; conditions?: Condition[] };
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: { exitCode: number; reason?: string; message?: string; finishedAt?: string };
}

export interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  state?: ContainerState;
  lastState?: ContainerState;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: Condition[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
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
  firstTimestamp?: string;
  lastTimestamp?: string;
  reportingComponent?: string;
  reportingInstance?: string;
  source?: { component: string };
}

export const ConfigMap = kindOf<ConfigMap>('v1', 'ConfigMap', 'configmaps');
export const Secret = kindOf<Secret>('v1', 'Secret', 'secrets');
export const Pod = kindOf<Pod>('v1', 'Pod', 'pods');
export const KubeEvent = kindOf<KubeEvent>('v1', 'Event', 'events');
export const Namespace = clusterKindOf<KubeObject>('v1', 'Namespace', 'namespaces');
export const Deployment = kindOf<Deployment>('apps/v1', 'Deployment', 'deployments');
export const Job = kindOf<Job>('batch/v1', 'Job', 'jobs');
export const Lease = kindOf<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');
