// The roles that controllers need, from their definitions: what is declared is granted, and nothing more. There is no
// wildcard, and the Lease has a Role of its own in one namespace, so that no other Lease can be touched.

import { groupOf, type Kind, type KubeObject } from '../objects/index.ts';
import type { ControllerDefinition, Rule } from './define.ts';

/** A rule of a Role, as the API server knows it. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

/** A definition of any kind; roles do not depend on what it decides. */
export type AnyDefinition = Pick<ControllerDefinition, 'kind' | 'aliases' | 'owns' | 'labelled' | 'reads'> & {
  gather?: { readonly [fact: string]: { needs?: readonly Rule[] } };
  cleanup?: { needs?: readonly Rule[] };
};

/** Who gets the roles, and where. */
export interface Installation {
  serviceAccount: string;
  /** The operator's own namespace, where its account is, and its Lease unless namespaces are named. */
  namespace: string;
  /** The namespaces that it works in, with the Lease in the first of them; all namespaces when none is named. */
  watched?: readonly string[];
}

export interface RoleObject extends KubeObject {
  rules: PolicyRule[];
}

export interface BindingObject extends KubeObject {
  roleRef: { apiGroup: string; kind: string; name: string };
  subjects: { kind: 'ServiceAccount'; name: string; namespace: string }[];
}

const grant = (kind: Kind, verbs: string[], part = ''): Rule => ({
  group: groupOf(kind),
  resource: `${kind.plural}${part}`,
  verbs,
});

/** The operator's own needs, beside its controllers: events about objects, even while it has no controller. */
const ownNeeds: Rule[] = [{ group: '', resource: 'events', verbs: ['create'] }];

/** What one controller asks of the API server when it works in some namespaces only. */
export function needsWithin(definition: AnyDefinition): Rule[] {
  const outside = clusterWide([definition]);
  return needsOf(definition).filter((rule) => !outside.has(keyOf(rule)));
}

/** Everything that one controller asks of the API server, one rule a resource. */
export function needsOf(definition: AnyDefinition): Rule[] {
  const { kind, aliases = [], owns, labelled = [], reads = [], gather = {}, cleanup } = definition;
  const parents = [kind, ...aliases];
  return merged([
    ...parents.map((parent) => grant(parent, ['get', 'list', 'watch', ...(cleanup ? ['patch'] : [])])),
    ...parents.map((parent) => grant(parent, ['patch'], '/status')),
    // An owner reference that blocks the owner's deletion needs the right to set the owner's finalizers.
    ...parents.map((parent) => grant(parent, ['update'], '/finalizers')),
    ...owns.map((child) => grant(child, ['get', 'list', 'watch', 'create', 'patch', 'delete'])),
    ...[...labelled, ...reads].map((other) => grant(other, ['list', 'watch'])),
    ...Object.values(gather).flatMap(({ needs = [] }) => needs),
    ...(cleanup?.needs ?? []),
    ...ownNeeds,
  ]);
}

const leaseRules: PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] },
];

/** The rules for all of these controllers; resources with the same verbs share a rule. `only` leaves out the others. */
export function rulesOf(definitions: readonly AnyDefinition[], { only }: { only?: 'namespaced' } = {}): PolicyRule[] {
  const outside = only ? clusterWide(definitions) : new Set<string>();
  const needs = merged([...definitions.flatMap((one) => needsOf(one)), ...ownNeeds]).filter(
    (rule) => !outside.has(keyOf(rule)),
  );
  const shared = Map.groupBy(needs, ({ group, verbs }) => `${group} ${verbs.join()}`);
  return [...shared.values()].flatMap(([first, ...more]) =>
    first
      ? [
          policyOf(
            first,
            [first, ...more].map(({ resource }) => resource),
          ),
        ]
      : [],
  );
}

const policyOf = ({ group, verbs }: Rule, resources: string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs: [...verbs],
});

/** Resources that no Role in a namespace can grant. */
const clusterWide = (definitions: readonly AnyDefinition[]): Set<string> =>
  new Set([
    ...definitions
      .flatMap(({ owns, labelled = [], reads = [] }) => [...owns, ...labelled, ...reads])
      .filter(({ namespaced }) => !namespaced)
      .map((kind) => keyOf(grant(kind, []))),
    ...definitions
      .flatMap(({ gather = {}, cleanup }) => [...Object.values(gather), cleanup ?? {}])
      .flatMap(({ needs = [] }) => needs.filter(({ scope }) => scope === 'cluster'))
      .map(keyOf),
  ]);

const keyOf = ({ group, resource }: Rule): string => `${group}/${resource}`;

/** One rule a resource with the verbs of all, in the order of names. */
function merged(rules: readonly Rule[]): Rule[] {
  const wildcard = rules.find(({ group, resource, verbs }) => [group, resource, ...verbs].includes('*'));
  if (wildcard) throw new TypeError(`a need must name its ${keyOf(wildcard)} and verbs: wildcards are not granted`);
  const byResource = Map.groupBy(rules, keyOf);
  return [...byResource.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, [first, ...more]]) => (first ? [{ ...first, verbs: verbsOf([first, ...more]) }] : []));
}

const verbsOf = (rules: Rule[]): string[] =>
  [...new Set(rules.flatMap(({ verbs }) => verbs))].toSorted((a, b) => (a < b ? -1 : 1));

/** The roles and bindings with which an operator runs these controllers. */
export function manifestsOf(
  definitions: readonly AnyDefinition[],
  installation: Installation,
): (RoleObject | BindingObject)[] {
  const { serviceAccount, namespace, watched = [] } = installation;
  const rules = rulesOf(definitions, watched.length > 0 ? { only: 'namespaced' } : {});
  const work =
    watched.length > 0
      ? watched.flatMap((each) => bound({ kind: 'Role', name: serviceAccount, namespace: each, rules }, installation))
      : bound({ kind: 'ClusterRole', name: serviceAccount, rules }, installation);
  const place = watched[0] ?? namespace;
  const lease = { kind: 'Role' as const, name: `${serviceAccount}-lease`, namespace: place, rules: leaseRules };
  return [...work, ...bound(lease, installation)];
}

interface RoleWish {
  kind: 'Role' | 'ClusterRole';
  name: string;
  namespace?: string;
  rules: PolicyRule[];
}

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** A role and the binding that gives it to the operator's account. */
function bound(
  { kind, name, namespace, rules }: RoleWish,
  { serviceAccount, namespace: home }: Installation,
): [RoleObject, BindingObject] {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const subjects = [{ kind: 'ServiceAccount' as const, name: serviceAccount, namespace: home }];
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { apiGroup, kind, name }, subjects },
  ];
}
