// How Services are reached from outside, with the fields that we touch: Kubernetes' own Ingress, and the HTTPRoute of the
// Gateway API, which a cluster need not have.

import { type LooseCondition } from './condition.ts';
import { kindOf, type KubeObject } from './kind.ts';

/** An address that a load balancer gave. */
export interface GivenAddress {
  ip?: string;
  hostname?: string;
}

export interface Ingress extends KubeObject {
  spec: {
    ingressClassName?: string;
    tls?: { hosts?: string[]; secretName?: string }[];
    rules?: { host?: string; http?: { paths: unknown[] } }[];
  };
  status?: { loadBalancer?: { ingress?: GivenAddress[] } };
}

/** The Gateway, and the listener of it, that a route asks to be served by. */
export interface ParentReference {
  group?: string;
  kind?: string;
  namespace?: string;
  name: string;
  sectionName?: string;
}

export interface HTTPRoute extends KubeObject {
  spec: { parentRefs?: ParentReference[]; hostnames?: string[]; rules?: unknown[] };
  status?: { parents?: { parentRef: ParentReference; controllerName?: string; conditions?: LooseCondition[] }[] };
}

export const Ingress = kindOf<Ingress>('networking.k8s.io/v1', 'Ingress', 'ingresses');
export const HTTPRoute = kindOf<HTTPRoute>('gateway.networking.k8s.io/v1', 'HTTPRoute', 'httproutes');
