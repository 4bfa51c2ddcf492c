// What every Kubernetes object has, and what one needs to know of a kind to ask the API server for it.

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A kind as the API server serves it. `shape` exists only for the compiler. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly shape?: T;
}

/** The objects of a kind, or of several. */
export type ShapeOf<K> = K extends Kind<infer T> ? T : never;

/** Names a kind; `plural` is what stands in the URL. */
export const kindOf = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Kind<T> => ({
  apiVersion,
  kind,
  plural,
  namespaced: true,
});

/** Names a kind that lives outside namespaces. */
export const clusterKindOf = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Kind<T> => ({
  ...kindOf<T>(apiVersion, kind, plural),
  namespaced: false,
});

/** The API group of an apiVersion; the core group is empty. */
export const groupOf = ({ apiVersion }: { apiVersion: string }): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';

/** Whether two names mean the same kind. */
export const sameKind = (a: { apiVersion: string; kind: string }, b: { apiVersion: string; kind: string }): boolean =>
  a.kind === b.kind && a.apiVersion === b.apiVersion;

/** Whether an object is of a kind. */
export const isOfKind = <T extends KubeObject>(object: KubeObject, kind: Kind<T>): object is T =>
  sameKind(object, kind);

/** The reference that makes an object somebody's own, if it has one. */
export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true);
