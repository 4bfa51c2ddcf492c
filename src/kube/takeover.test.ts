// The managedFields are those that a real API server wrote.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotation, kindOf, type KubeObject, label, type OwnerReference } from '../objects/index.ts';
import { referenceTo } from './child.ts';
import { asApplied, marksFor } from './takeover.ts';

const time = '2026-05-01T12:00:00Z';
const entry = (manager: string, operation: string, fieldsV1: Record<string, unknown>, more: object = {}) => ({
  manager,
  operation,
  apiVersion: 'apps/v1',
  time,
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...more,
});

const posted = entry('baton', 'Update', {
  'f:metadata': { 'f:labels': { '.': {}, 'f:baton.dev/kind': {}, 'f:team': {} } },
  'f:spec': {
    'f:template': {
      'f:spec': {
        'f:containers': {
          'k:{"name":"c"}': {
            '.': {},
            'f:env': { '.': {}, 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
            'f:image': {},
            'f:name': {},
          },
        },
      },
    },
  },
});
const applied = entry('baton', 'Apply', {
  'f:spec': {
    'f:replicas': {},
    'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:args': {} } } } },
  },
});
const evidence = entry('baton-evidence', 'Apply', { 'f:metadata': { 'f:annotations': { 'f:test/result': {} } } });
const kubectl = entry('kubectl-edit', 'Update', { 'f:spec': { 'f:minReadySeconds': {} } });
const status = entry('kube-controller-manager', 'Update', { 'f:status': {} }, { subresource: 'status' });

describe('taking over what our own POST set', () => {
  test('our entry becomes an applied one with the same fields; the others stay as they are', () =>
    deepEqual(asApplied([posted, evidence, kubectl, status]), [
      { ...posted, operation: 'Apply' },
      evidence,
      kubectl,
      status,
    ]));

  test('an applied and an updated entry of ours become one with the fields of both', () => {
    const [one, ...others] = asApplied([applied, kubectl, posted]);
    deepEqual(others, [kubectl]);
    equal(one?.operation, 'Apply');
    deepEqual(one?.fieldsV1, {
      'f:metadata': { 'f:labels': { '.': {}, 'f:baton.dev/kind': {}, 'f:team': {} } },
      'f:spec': {
        'f:replicas': {},
        'f:template': {
          'f:spec': {
            'f:containers': {
              'k:{"name":"c"}': {
                '.': {},
                'f:args': {},
                'f:env': { '.': {}, 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
                'f:image': {},
                'f:name': {},
              },
            },
          },
        },
      },
    });
  });

  test('what was read is not changed', () => {
    const entries = [applied, posted, kubectl];
    const before = structuredClone(entries);
    asApplied(entries);
    deepEqual(entries, before);
  });

  const untouched: [name: string, entries: Parameters<typeof asApplied>[0]][] = [
    ['nothing', []],
    ['only an applied entry of ours', [applied, kubectl]],
    ['no entry of ours', [evidence, kubectl, status]],
    ['only a status of ours', [entry('baton', 'Update', { 'f:status': {} }, { subresource: 'status' })]],
  ];
  for (const [name, entries] of untouched)
    test(`${name}: there is nothing to do`, () => equal(asApplied(entries), entries));

  test('an entry of ours for a subresource stays apart', () => {
    const scale = entry('baton', 'Update', { 'f:spec': { 'f:replicas': {} } }, { subresource: 'scale' });
    deepEqual(asApplied([posted, scale]), [{ ...posted, operation: 'Apply' }, scale]);
  });

  test('an entry without fields is taken over too', () =>
    deepEqual(asApplied([{ manager: 'baton', operation: 'Update' }]), [
      { manager: 'baton', operation: 'Apply', fieldsV1: {} },
    ]));
});

test('a class that the server gave at birth is not ours to take away', () => {
  const fieldsV1 = { 'f:spec': { 'f:storageClassName': {}, 'f:accessModes': {} } };
  deepEqual(asApplied([{ manager: 'baton', operation: 'Update', fieldsV1 }]), [
    { manager: 'baton', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:accessModes': {} } } },
  ]);
});

describe('the marks that are put back', () => {
  const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');
  const object = { apiVersion: Shop.apiVersion, kind: Shop.kind, metadata: { name: 'corner', uid: '1-1' } };
  const owner = { object, kind: Shop, labelKind: 'Shop' };
  const claim = (labels: Record<string, string>, ownerReferences: OwnerReference[] = []) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c', uid: '5-5', resourceVersion: '7', labels, ownerReferences },
  });
  const stays = { [label.retained]: 'r1' };
  const other = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '9-9' };
  const turn = (live: KubeObject, wanted: KubeObject) => {
    const { labels, annotations, ownerReferences } = marksFor(live, wanted, owner);
    return [labels[label.retained], annotations, ownerReferences.map(({ uid }) => uid)];
  };

  test('give a claim its parent that is not to stay any more, and say that it is not as it was applied', () =>
    deepEqual(turn(claim(stays, [other]), claim({})), [null, { [annotation.desired]: null }, ['9-9', '1-1']]));

  test('take the parent from a claim that is to stay', () =>
    deepEqual(turn(claim({}, [referenceTo(owner), other]), claim(stays)), [
      'r1',
      { [annotation.desired]: null },
      ['9-9'],
    ]));

  test('leave a claim in its state that only lost them', () => {
    deepEqual(turn(claim(stays), claim(stays)), [undefined, undefined, []]);
    deepEqual(turn(claim({}), claim({})), [undefined, undefined, ['1-1']]);
  });
});
