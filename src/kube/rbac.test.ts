import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterKindOf, ConfigMap, Deployment, Job, kindOf, Pod } from '../objects/index.ts';
import { type AnyDefinition, manifestsOf, needsOf, needsWithin, rulesOf } from './rbac.ts';

const Parent = kindOf('test.baton.dev/v1', 'Parent', 'parents');
const Old = kindOf('old.dev/v1', 'Old', 'olds');
const Node = clusterKindOf('v1', 'Node', 'nodes');
const bare: AnyDefinition = { kind: Parent, owns: [] };

/** A role in short: `group/resource verbs`. */
const short = (definitions: AnyDefinition[], options = {}) =>
  rulesOf(definitions, options).map(
    ({ apiGroups, resources, verbs }) => `${apiGroups.join()}/${resources.join('+')} ${verbs.join()}`,
  );

const everything = 'create,delete,get,list,patch,watch';
const ofParent = [
  'test.baton.dev/parents get,list,watch',
  'test.baton.dev/parents/finalizers update',
  'test.baton.dev/parents/status patch',
];

describe('the rules of a definition', () => {
  test('a controller without children looks at its parents, tells their status and writes events', () =>
    deepEqual(short([bare]), ['/events create', ...ofParent]));

  test('no controller at all still writes events', () => deepEqual(short([]), ['/events create']));

  test('an alias gets what the kind gets', () =>
    deepEqual(short([{ ...bare, aliases: [Old] }]), [
      '/events create',
      'old.dev/olds get,list,watch',
      'old.dev/olds/finalizers update',
      'old.dev/olds/status patch',
      ...ofParent,
    ]));

  test('children are written, labelled and foreign objects only watched', () =>
    deepEqual(short([{ ...bare, owns: [Job], labelled: [Pod], reads: [ConfigMap] }]), [
      '/configmaps+pods list,watch',
      '/events create',
      `batch/jobs ${everything}`,
      ...ofParent,
    ]));

  test('only a cleanup may write the parent itself, for its finalizer', () =>
    deepEqual(short([{ ...bare, cleanup: {} }])[1], 'test.baton.dev/parents get,list,patch,watch'));

  test('facts and cleanup bring their own needs', () => {
    const logs = { group: '', resource: 'pods/log', verbs: ['get'] };
    const claims = { group: '', resource: 'persistentvolumeclaims', verbs: ['delete'] };
    const rules = short([{ ...bare, gather: { line: { needs: [logs] }, none: {} }, cleanup: { needs: [claims] } }]);
    deepEqual(rules.slice(0, 3), ['/events create', '/persistentvolumeclaims delete', '/pods/log get']);
  });

  test('what a fact reads of the whole cluster is left out where Roles must be enough', () => {
    const nodes = { group: '', resource: 'nodes', verbs: ['list'], scope: 'cluster' } as const;
    const definition = { ...bare, gather: { versions: { needs: [nodes] } } };
    deepEqual(short([definition]), ['/events create', '/nodes list', ...ofParent]);
    deepEqual(short([definition], { only: 'namespaced' }), ['/events create', ...ofParent]);
    deepEqual(
      needsWithin(definition).map(({ resource }) => resource),
      ['events', 'parents', 'parents/finalizers', 'parents/status'],
    );
  });

  test('a kind that is needed twice is granted once, with the verbs of both', () =>
    deepEqual(short([{ ...bare, owns: [ConfigMap], reads: [ConfigMap] }])[0], `/configmaps ${everything}`));

  test('resources of one group with the same verbs share a rule; groups never do', () =>
    deepEqual(short([{ ...bare, owns: [Pod, ConfigMap, Deployment] }]).slice(0, 3), [
      `/configmaps+pods ${everything}`,
      '/events create',
      `apps/deployments ${everything}`,
    ]));

  test('the order of the definitions does not matter', () => {
    const other: AnyDefinition = { kind: Old, owns: [Job] };
    deepEqual(short([bare, other]), short([other, bare]));
  });

  test('what no Role can grant is left out where there are only Roles', () =>
    deepEqual(short([{ ...bare, reads: [Node] }], { only: 'namespaced' }), ['/events create', ...ofParent]));

  test('a wildcard is refused', () =>
    throws(() => needsOf({ ...bare, cleanup: { needs: [{ group: '', resource: 'pods', verbs: ['*'] }] } }), TypeError));
});

describe('the manifests of an installation', () => {
  const installation = { serviceAccount: 'baton', namespace: 'home' };
  const names = (watched: string[]) =>
    manifestsOf([bare], { ...installation, watched }).map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? '*'}/${metadata.name}`,
    );

  test('are cluster-wide by default, with the Lease at home', () =>
    deepEqual(names([]), [
      'ClusterRole */baton',
      'ClusterRoleBinding */baton',
      'Role home/baton-lease',
      'RoleBinding home/baton-lease',
    ]));

  test('are Roles alone when namespaces are named, with the Lease in the first of them', () =>
    deepEqual(names(['a', 'b']), [
      'Role a/baton',
      'RoleBinding a/baton',
      'Role b/baton',
      'RoleBinding b/baton',
      'Role a/baton-lease',
      'RoleBinding a/baton-lease',
    ]));

  test('bind the account of the home namespace everywhere', () => {
    const bindings = manifestsOf([bare], { ...installation, watched: ['a'] }).filter((object) => 'subjects' in object);
    equal(bindings.length, 2);
    for (const { subjects } of bindings)
      deepEqual(subjects, [{ kind: 'ServiceAccount', name: 'baton', namespace: 'home' }]);
  });
});
