// Two repairs of who owns what in an object of ours. `takeOver`: fields that were set by our POST belong to our entry
// with operation `Update`, and a later apply would not remove them; the entry is turned into `Apply`, once. `putBack`:
// labels and owner of a child that lost them.

import { annotation, type Kind, type KubeObject, label, manager } from '../objects/index.ts';
import { isRetained, type Owner, ownLabels, referenceTo } from './child.ts';
import type { Client } from './client/index.ts';
import { Stale } from './refusal.ts';

interface ManagedFields {
  manager?: string;
  operation?: string;
  subresource?: string;
  fieldsV1?: Record<string, unknown>;
}

/** Turns our `Update` entry into `Apply`; gives back the object as it then is. */
export async function takeOver(client: Client, kind: Kind, held: KubeObject): Promise<KubeObject> {
  const { namespace = '', name, uid, resourceVersion } = held.metadata;
  const live = await client.get(kind, { namespace, name });
  // Going on from what nobody has looked at yet would pass a stranger's news for an echo of our own write.
  if (live.metadata.uid !== uid || live.metadata.resourceVersion !== resourceVersion)
    throw new Stale(`${kind.kind} ${name} changed meanwhile`);
  const before = (live.metadata as { managedFields?: ManagedFields[] }).managedFields ?? [];
  const after = asApplied(before);
  if (after === before) return live;
  const patch = [
    // The version that was read makes the patch conditional: whatever changed meanwhile gives a conflict.
    { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    { op: 'replace', path: '/metadata/managedFields', value: after },
  ];
  return client.patch(kind, { namespace, name }, patch, { type: 'json', manager: manager.children });
}

/** Our entries become one that was applied; all others stay as they are. */
export function asApplied(entries: ManagedFields[]): ManagedFields[] {
  const isOurs = (entry: ManagedFields) => entry.manager === manager.children && !entry.subresource;
  const ours = entries.filter(isOurs);
  const [first] = ours;
  if (!first || !ours.some(({ operation }) => operation === 'Update')) return entries;
  const fieldsV1 = withoutGiven(ours.map((entry) => entry.fieldsV1 ?? {}).reduce(union));
  return [{ ...first, operation: 'Apply', fieldsV1 }, ...entries.filter((entry) => !isOurs(entry))];
}

/**
 * Classes that the server fills in when an object is made count as ours in managedFields though we never named them.
 * They cannot change later, so an apply without them must not try to take them away.
 */
const givenAtBirth = ['f:storageClassName', 'f:ingressClassName'];

function withoutGiven(fields: Record<string, unknown>): Record<string, unknown> {
  const spec = fields['f:spec'];
  if (typeof spec !== 'object' || spec === null) return fields;
  return {
    ...fields,
    'f:spec': Object.fromEntries(Object.entries(spec).filter(([key]) => !givenAtBirth.includes(key))),
  };
}

/** Two field sets as one: a set is a tree, so the union is the merged tree. */
function union(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...a };
  for (const [key, value] of Object.entries(b)) {
    merged[key] = union((merged[key] ?? {}) as Record<string, unknown>, value as Record<string, unknown>);
  }
  return merged;
}

/** Gives a child of ours its labels and its owner back, or lets it outlive its owner, as it is wanted. */
export function putBack(client: Client, kind: Kind, live: KubeObject, wanted: KubeObject, owner: Owner) {
  const { namespace = '', name } = live.metadata;
  const body = { metadata: marksFor(live, wanted, owner) };
  return client.patch<KubeObject>(kind, { namespace, name }, body, { type: 'merge', manager: manager.children });
}

/** The marks as a merge patch; null takes away. What was applied with other marks is not what is there any more. */
export function marksFor(live: KubeObject, wanted: KubeObject, owner: Owner) {
  const { uid = '', resourceVersion = '', ownerReferences = [] } = live.metadata;
  const others = ownerReferences.filter((one) => one.uid !== owner.object.metadata.uid);
  const retained = { [label.retained]: wanted.metadata.labels?.[label.retained] ?? null };
  const turned = isRetained(wanted) !== isRetained(live);
  return {
    uid,
    resourceVersion,
    labels: { ...ownLabels(owner), ...(turned && retained) },
    ...(turned && { annotations: { [annotation.desired]: null } }),
    ownerReferences: isRetained(wanted) ? others : [...others, referenceTo(owner)],
  };
}
