// Every form of request that the API server knows, as a table.

import assert from 'node:assert/strict';
import test from 'node:test';
import { changes, classify } from './classify.ts';

const base = '/api/v1/namespaces/shop/configmaps';
const deployments = '/apis/apps/v1/namespaces/shop/deployments';

/** method, URL, content type; then verb, group, version, resource, subresource, namespace, name. */
const table: [string, string, string, string][] = [
  ['GET', `${base}/a`, '', 'get  v1 configmaps  shop a'],
  ['HEAD', `${base}/a`, '', 'get  v1 configmaps  shop a'],
  ['GET', base, '', 'list  v1 configmaps  shop '],
  ['GET', '/api/v1/configmaps?limit=500', '', 'list  v1 configmaps   '],
  ['GET', `${base}?watch=1`, '', 'watch  v1 configmaps  shop '],
  ['GET', `${base}?watch=true&resourceVersion=5`, '', 'watch  v1 configmaps  shop '],
  ['GET', `${base}?watch=false`, '', 'list  v1 configmaps  shop '],
  ['GET', `${base}?watch=0`, '', 'list  v1 configmaps  shop '],
  ['GET', `${base}/a?watch=true`, '', 'get  v1 configmaps  shop a'],
  ['GET', '/api/v1/watch/namespaces/shop/configmaps/a', '', 'watch  v1 configmaps  shop a'],
  ['GET', '/api/v1/watch/configmaps', '', 'watch  v1 configmaps   '],
  ['GET', `${base}?fieldSelector=metadata.name%3Da`, '', 'list  v1 configmaps  shop a'],
  ['GET', `${base}?watch=1&fieldSelector=x%3Dy%2Cmetadata.name%3Da`, '', 'watch  v1 configmaps  shop a'],
  ['POST', base, 'application/json', 'create  v1 configmaps  shop '],
  ['PUT', `${deployments}/a`, '', 'update apps v1 deployments  shop a'],
  ['PUT', `${deployments}/a/status`, '', 'update apps v1 deployments status shop a'],
  ['PATCH', `${deployments}/a`, 'application/merge-patch+json', 'patch apps v1 deployments  shop a'],
  ['PATCH', `${deployments}/a`, 'application/json-patch+json', 'patch apps v1 deployments  shop a'],
  ['PATCH', `${deployments}/a?fieldManager=m`, 'application/apply-patch+yaml', 'apply apps v1 deployments  shop a'],
  ['PATCH', `${deployments}/a/scale`, 'application/apply-patch+cbor', 'apply apps v1 deployments scale shop a'],
  ['DELETE', `${base}/a`, '', 'delete  v1 configmaps  shop a'],
  ['DELETE', base, '', 'deletecollection  v1 configmaps  shop '],
  ['DELETE', `${base}?fieldSelector=metadata.name%3Da`, '', 'deletecollection  v1 configmaps  shop a'],
  ['POST', '/api/v1/namespaces/shop/pods/p/eviction', '', 'create  v1 pods eviction shop p'],
  ['GET', '/api/v1/namespaces/shop/pods/p/log?follow=true', '', 'get  v1 pods log shop p'],
  ['GET', '/api/v1/namespaces', '', 'list  v1 namespaces   '],
  ['GET', '/api/v1/namespaces/shop', '', 'get  v1 namespaces  shop shop'],
  ['PUT', '/api/v1/namespaces/shop/finalize', '', 'update  v1 namespaces finalize shop shop'],
  ['PATCH', '/api/v1/namespaces/shop/status', '', 'patch  v1 namespaces status shop shop'],
  ['GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/x', '', 'get rbac.authorization.k8s.io v1 clusterroles   x'],
  [
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    '',
    'create authorization.k8s.io v1 selfsubjectaccessreviews   ',
  ],
  ['GET', '/apis', '', 'get      '],
  ['GET', '/apis/apps/v1', '', 'get      '],
  ['GET', '/readyz?verbose', '', 'get      '],
  ['POST', '/somewhere/else', '', 'create      '],
  ['OPTIONS', '/api/v1/pods', '', 'options  v1 pods   '],
];

for (const [method, url, contentType, expected] of table)
  test(`${method} ${url} ${contentType}`, () => {
    const { verb, group, version, resource, subresource, namespace, name } = classify(method, url, contentType);
    assert.equal([verb, group, version, resource, subresource, namespace, name].join(' '), expected);
  });

test('only a request that can change what is stored counts as a write', () => {
  const isWrite = (method: string, url: string, dryRun = false) => changes({ ...classify(method, url), dryRun });
  assert.equal(isWrite('POST', base), true);
  assert.equal(isWrite('PATCH', `${base}/a`), true);
  assert.equal(isWrite('DELETE', base), true);
  assert.equal(isWrite('POST', base, true), false);
  assert.equal(isWrite('GET', base), false);
  assert.equal(isWrite('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'), false);
  assert.equal(isWrite('POST', '/somewhere/else'), false);
});
