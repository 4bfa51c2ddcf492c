// What makes an object somebody's child: the labels by which it is found, the reference by which it is collected, and
// the hash of what was wanted. And the judgement whether an object under a wanted name is really ours.

import { hashOf } from '../base/index.ts';
import { annotation, controllerOf, type Kind, type KubeObject, label, type OwnerReference } from '../objects/index.ts';
import type { Parent } from './define.ts';

/** A parent with the kind under which it was found, and the kind's first name, which its children's labels carry. */
export interface Owner {
  object: Parent;
  kind: Kind;
  labelKind: string;
}

/** The child as it is written: named into the parent's namespace, labelled, owned, and hashed. */
export function dress(child: KubeObject, owner: Owner): KubeObject {
  const { metadata } = child;
  const dressed = {
    ...child,
    metadata: {
      ...metadata,
      namespace: owner.object.metadata.namespace ?? '',
      labels: { ...metadata.labels, ...ownLabels(owner) },
      ...(isRetained(child) ? {} : { ownerReferences: [referenceTo(owner)] }),
    },
  };
  const desired = { [annotation.desired]: hashOf(dressed) };
  return { ...dressed, metadata: { ...dressed.metadata, annotations: { ...metadata.annotations, ...desired } } };
}

export const ownLabels = ({ object, labelKind }: Owner): Record<string, string> => ({
  [label.kind]: labelKind,
  [label.name]: object.metadata.name,
  [label.uid]: object.metadata.uid ?? '',
});

export const referenceTo = ({ object, kind }: Owner): OwnerReference => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  name: object.metadata.name,
  uid: object.metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** A claim that outlives its parent has a label instead of an owner. */
export const isRetained = (child: KubeObject): boolean => child.metadata.labels?.[label.retained] !== undefined;

/** Whether an object that stands under a wanted name belongs to the parent. */
export function isOurs(live: KubeObject, wanted: KubeObject, { object }: Owner): boolean {
  const controller = controllerOf(live);
  if (controller) return controller.uid === object.metadata.uid;
  return live.metadata.labels?.[label.uid] === object.metadata.uid || isHeirloom(live, wanted);
}

/** A claim that outlived its parent is for the next one of the same revision, whether that one retains it or not. */
function isHeirloom(live: KubeObject, wanted: KubeObject): boolean {
  const revision = live.metadata.labels?.[label.retained];
  const revisions = Object.values(wanted.metadata.labels ?? {});
  return live.kind === 'PersistentVolumeClaim' && revision !== undefined && revisions.includes(revision);
}

/** Whether the marks are right by which we find the child again, and by which it goes or stays with its parent. */
export function isMarked(live: KubeObject, wanted: KubeObject, owner: Owner): boolean {
  const labels = Object.entries(ownLabels(owner)).every(([key, value]) => live.metadata.labels?.[key] === value);
  const { uid } = owner.object.metadata;
  const owned = live.metadata.ownerReferences?.some((one) => one.controller === true && one.uid === uid) ?? false;
  return labels && isRetained(wanted) === isRetained(live) && isRetained(wanted) !== owned;
}

/** An object as a person would name it. */
export const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name}`;
