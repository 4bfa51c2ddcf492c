// The texts are those of a real API server, as the client hands them on.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject, label } from '../objects/index.ts';
import { ApiError } from './client/index.ts';
import { judged, ownershipConflict, Refusal, Stale } from './refusal.ts';

const child: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'shop' } };

const answer = (status: number, said: string, reason = '') =>
  new ApiError({
    status,
    reason,
    message: `cannot apply ConfigMap shop/web: ${status} ${said}`,
    said,
    verb: 'apply',
    path: '',
  });

/** What a write's error becomes: the reason of a refusal, `Stale`, or `as it is`. */
function verdict(error: unknown): string {
  const become = judged(error, child);
  if (become === error) return 'as it is';
  return become instanceof Refusal ? become.reason : (become as Error).name;
}

const cases: { name: string; status: number; said: string; becomes: string }[] = [
  {
    name: 'another version',
    status: 409,
    said: 'Operation cannot be fulfilled on configmaps "web": the object has been modified; please apply your changes to the latest version and try again',
    becomes: 'Stale',
  },
  {
    name: 'an apply to an object that is gone',
    status: 409,
    said: 'Operation cannot be fulfilled on configmaps "web": uid mismatch: the provided object specified uid 1-1, and no existing object was found',
    becomes: 'Stale',
  },
  {
    name: 'a write to an object that was replaced',
    status: 422,
    said: 'ConfigMap "web" is invalid: metadata.uid: Invalid value: "1-1": field is immutable',
    becomes: 'Stale',
  },
  {
    name: 'a deletion of an object that was replaced',
    status: 409,
    said: 'Operation cannot be fulfilled on ConfigMap "web": the UID in the precondition (1-1) does not match the UID in record (2-2). The object might have been deleted and then recreated',
    becomes: 'Stale',
  },
  { name: 'an object that is gone', status: 404, said: 'configmaps "web" not found', becomes: 'Stale' },
  { name: 'a namespace that is gone', status: 404, said: 'namespaces "shop" not found', becomes: 'Stale' },
  {
    name: 'a namespace that is being deleted',
    status: 403,
    said: 'configmaps "web" is forbidden: unable to create new content in namespace shop because it is being terminated',
    becomes: 'Stale',
  },
  {
    name: 'a kind that is being deleted',
    status: 403,
    said: 'httproutes.gateway.networking.k8s.io "web" is forbidden: create not allowed while custom resource definition is terminating',
    becomes: 'Stale',
  },
  {
    name: 'a quota',
    status: 403,
    said: 'configmaps "web" is forbidden: exceeded quota: few, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
    becomes: 'QuotaExceeded',
  },
  {
    name: 'a missing right to create',
    status: 403,
    said: 'configmaps is forbidden: User "system:serviceaccount:baton:op" cannot create resource "configmaps" in API group "" in the namespace "shop"',
    becomes: 'MissingPermission',
  },
  {
    name: 'a missing right to apply',
    status: 403,
    said: 'deployments.apps "web" is forbidden: User "system:serviceaccount:baton:op" cannot patch resource "deployments" in API group "apps" in the namespace "shop"',
    becomes: 'MissingPermission',
  },
  {
    name: 'a limit range',
    status: 403,
    said: 'persistentvolumeclaims "web" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
    becomes: 'AdmissionDenied',
  },
  {
    name: 'an admission policy',
    status: 422,
    said: `configmaps "web" is forbidden: ValidatingAdmissionPolicy 'names' with binding 'names' denied request: not this one`,
    becomes: 'AdmissionDenied',
  },
  {
    name: 'an admission webhook',
    status: 400,
    said: 'admission webhook "names.example.com" denied the request: not this one',
    becomes: 'AdmissionDenied',
  },
  {
    name: 'an admission webhook that says conflict',
    status: 409,
    said: 'admission webhook "names.example.com" denied the request: not now',
    becomes: 'AdmissionDenied',
  },
  {
    name: 'an admission webhook that nobody answers',
    status: 500,
    said: 'Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused',
    becomes: 'AdmissionUnavailable',
  },
  {
    name: 'an immutable field',
    status: 422,
    said: 'Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable',
    becomes: 'Invalid',
  },
  {
    name: 'a second controller',
    status: 422,
    said: 'ConfigMap "web" is invalid: metadata.ownerReferences: Invalid value: [{"kind":"Pod","name":"p","uid":"1"}]: Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
    becomes: 'Invalid',
  },
  {
    name: 'a wrong type in a POST',
    status: 400,
    said: 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    becomes: 'Invalid',
  },
  {
    name: 'a wrong type in an apply, which the server calls its own error',
    status: 500,
    said: 'failed to create typed patch object (shop/web; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}',
    becomes: 'Invalid',
  },
  {
    name: 'a body that is too large',
    status: 413,
    said: 'Request entity too large: limit is 3145728',
    becomes: 'Invalid',
  },
  { name: 'an object too large for etcd', status: 500, said: 'etcdserver: request is too large', becomes: 'Invalid' },
  { name: 'a busy server', status: 429, said: 'too many requests', becomes: 'as it is' },
  { name: 'a server in trouble', status: 500, said: 'etcdserver: request timed out', becomes: 'as it is' },
  { name: 'credentials that are not accepted', status: 401, said: 'Unauthorized', becomes: 'as it is' },
  { name: 'no answer', status: 0, said: 'the connection was reset', becomes: 'as it is' },
];

describe('the error of a write', () => {
  for (const { name, status, said, becomes } of cases)
    test(`${name} is ${becomes}`, () => equal(verdict(answer(status, said)), becomes));

  test('what is no answer of the server stays as it is', () => equal(verdict(new TypeError('a fault')), 'as it is'));

  const told: [said: string, status: number, words: string][] = [
    [
      'ConfigMap "web" is invalid: spec.selector: field is immutable',
      422,
      'the API server refused ConfigMap web: spec.selector: field is immutable',
    ],
    [
      'configmaps "web" is forbidden: exceeded quota: few, requested: count/configmaps=1',
      403,
      'the quota does not allow ConfigMap web: exceeded quota: few, requested: count/configmaps=1',
    ],
    [
      'configmaps is forbidden: User "op" cannot create resource "configmaps" in API group ""',
      403,
      'the operator may not write ConfigMap web: User "op" cannot create resource "configmaps" in API group ""',
    ],
    [
      'pods "other" is forbidden: not this one',
      403,
      'an admission policy refused ConfigMap web: pods "other" is forbidden: not this one',
    ],
  ];
  for (const [said, status, words] of told)
    test(`is told as: ${words}`, () => {
      const refused = judged(answer(status, said), child);
      ok(refused instanceof Refusal && refused.cause instanceof ApiError);
      equal(refused.message, words);
    });
});

describe('an ownership conflict', () => {
  test('names the owner, if there is one', () => {
    const owner = { apiVersion: 'v1', kind: 'Shop', name: 'other', uid: '9', controller: true };
    const holder = { ...owner, name: 'holder', controller: false };
    const live = { ...child, metadata: { ...child.metadata, ownerReferences: [holder, owner] } };
    match(ownershipConflict(live).message, /^ConfigMap web exists already and belongs to Shop other; /);
  });

  test('says what to do', () => {
    const { reason, message } = ownershipConflict(child);
    deepEqual(
      [reason, message],
      [
        'OwnershipConflict',
        'ConfigMap web exists already and was not made by Baton; it is left untouched. Rename or delete it to go on',
      ],
    );
  });
});

test('an object that one of ours left behind is not called a stranger’s', () => {
  const labels = { [label.kind]: 'Shop', [label.name]: 'corner', [label.uid]: '0-0' };
  const live = { ...child, metadata: { ...child.metadata, labels } };
  match(ownershipConflict(live).message, /^ConfigMap web exists already and was made for another Shop corner; /);
});

test('what is stale is told from what is refused by its class', () => {
  ok(!(new Stale('late') instanceof Refusal));
  equal(new Stale('late').name, 'Stale');
});
