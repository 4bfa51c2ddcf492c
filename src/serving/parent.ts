// What the pieces in this folder must know of a parent whose pods serve: how many, by which way a new revision takes over,
// and the few fields of a pod. Every kind of which servers run hands in its own object.

import type { PodFields, RolloutFields } from '../api/index.ts';
import type { KubeObject } from '../objects/index.ts';

/** How many servers, and how others take over from them. */
export interface Sized {
  replicas: number;
  rollout: RolloutFields;
}

/** An object with servers. */
export interface Served extends KubeObject {
  spec: Sized & PodFields;
}

/** What names a child and finds it. */
export interface Named {
  name: string;
  labels: Record<string, string>;
  annotations?: Record<string, string>;
}
