import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  conditionOf,
  ConfigMap,
  controllerOf,
  Deployment,
  groupOf,
  isOfKind,
  type KubeObject,
  Namespace,
} from './index.ts';

const web: KubeObject = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } };

describe('a kind', () => {
  test('has the group of its apiVersion, and the core group is empty', () => {
    deepEqual(
      [groupOf(Deployment), groupOf(ConfigMap), groupOf({ apiVersion: 'baton.dev/v1alpha1' })],
      ['apps', '', 'baton.dev'],
    );
  });

  test('lives in namespaces unless it says otherwise', () => {
    deepEqual([Deployment.namespaced, Namespace.namespaced], [true, false]);
  });

  test('is told by name and apiVersion together', () => {
    equal(isOfKind(web, Deployment), true);
    equal(isOfKind({ ...web, apiVersion: 'extensions/v1beta1' }, Deployment), false);
    equal(isOfKind(web, ConfigMap), false);
  });
});

describe('controllerOf', () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: '1' };
  const owned = (...ownerReferences: NonNullable<KubeObject['metadata']['ownerReferences']>): KubeObject => ({
    ...web,
    metadata: { name: 'web', ownerReferences },
  });

  test('is the owner that controls, wherever it stands in the list', () => {
    equal(controllerOf(owned(owner, { ...owner, uid: '2', controller: true }))?.uid, '2');
  });

  test('is nobody when owners only hold', () => {
    equal(controllerOf(owned(owner, { ...owner, uid: '2', controller: false })), undefined);
    equal(controllerOf(web), undefined);
  });
});

test('conditionOf finds a condition by its type, and nothing in an empty status', () => {
  const ready = { type: 'Ready', status: 'True', reason: 'Serving', message: '' } as const;
  equal(conditionOf({ conditions: [{ ...ready, type: 'Stalled' }, ready] }, 'Ready'), ready);
  equal(conditionOf({ conditions: [ready] }, 'Stalled'), undefined);
  equal(conditionOf(undefined, 'Ready'), undefined);
});
