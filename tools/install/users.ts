// What people may do with our kinds: whoever may view or edit a namespace may view or edit these as well, by the roles
// that every cluster has.

import type { DefinedKind } from '../../src/schema/index.ts';
import { labels, type Manifest } from './place.ts';

const reading = ['get', 'list', 'watch'];
const writing = [...reading, 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** The roles for people, which the cluster's own roles take up. */
export function userRoles(kinds: readonly DefinedKind[]): Manifest[] {
  return [role('view', reading, ['view', 'edit', 'admin'], kinds), role('edit', writing, ['edit', 'admin'], kinds)];
}

function role(name: string, verbs: string[], into: string[], kinds: readonly DefinedKind[]): Manifest {
  const byGroup = Map.groupBy(kinds, ({ definition }) => definition.group);
  const aggregated = into.map((other) => [`rbac.authorization.k8s.io/aggregate-to-${other}`, 'true'] as const);
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `baton-${name}`, labels: { ...labels, ...Object.fromEntries(aggregated) } },
    rules: Array.from(byGroup, ([group, members]) => ({
      apiGroups: [group],
      resources: members.flatMap(({ definition: { plural, scale } }) => [
        plural,
        ...(scale ? [`${plural}/scale`] : []),
      ]),
      verbs,
    })),
  };
}
