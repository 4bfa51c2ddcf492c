// Where things live on the API server. Kinds are few and requests are many, so the fixed part of a kind's path is built once.

import { groupOf, type Kind, type KubeObject } from '../../objects/index.ts';

/** Names one object; without a namespace it lives outside of them. */
export interface Ref {
  namespace?: string;
  name: string;
}

const roots = new WeakMap<Kind, string>();

function rootOf(kind: Kind): string {
  let root = roots.get(kind);
  if (root === undefined) {
    root = groupOf(kind) === '' ? `/api/${kind.apiVersion}` : `/apis/${kind.apiVersion}`;
    roots.set(kind, root);
  }
  return root;
}

/** The path of all objects of a kind, in one namespace or in all. */
export function collectionPath(kind: Kind, namespace: string | undefined): string {
  if (!kind.namespaced || namespace === undefined) return `${rootOf(kind)}/${kind.plural}`;
  return `${rootOf(kind)}/namespaces/${safe(namespace)}/${kind.plural}`;
}

/** The path of one object, or of a subresource of it. */
export function objectPath(kind: Kind, { namespace, name }: Ref, subresource?: string): string {
  if (name === '') throw new TypeError(`${kind.kind}: the name is empty`);
  if (kind.namespaced && namespace === undefined) throw new TypeError(`${kind.kind} ${name}: the namespace is missing`);
  const path = `${collectionPath(kind, namespace)}/${safe(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** The reference of an object that is about to be written. */
export const refOf = ({ metadata }: KubeObject): Ref => metadata;

/** A query string with its question mark, or nothing. */
export function queryOf(query: Record<string, string>): string {
  const pairs = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Names of Kubernetes need no escaping; anything else must not be able to leave its place in the path. */
const safe = (part: string): string => {
  if (/^[a-z0-9][a-z0-9.-]*$/.test(part)) return part;
  if (part === '.' || part === '..' || part === '') throw new TypeError(`"${part}" cannot be a name in a path`);
  return encodeURIComponent(part);
};
