// What the trace reads from answers, with bodies as API servers write them.

import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import test from 'node:test';
import { readerFor, wasEffective } from './answers.ts';
import { describe } from './incoming.ts';

const json: IncomingHttpHeaders = { 'content-type': 'application/json' };

function read(path: string, body: string, { status = 200, size = 1000, headers = json } = {}) {
  const call = { ...describe({ method: 'GET', path, headers: {}, body: Buffer.alloc(0) }, 0), seq: 1 };
  const reader = readerFor(call, status, headers);
  const bytes = Buffer.from(body);
  for (let start = 0; start < bytes.length; start += size) reader.take(bytes.subarray(start, start + size));
  return reader.read();
}

const item = JSON.stringify({ metadata: { name: 'a', resourceVersion: '999', annotations: { odd: '],"kind":"x' } } });
const items = Array.from({ length: 200 }, () => item).join(',');

for (const size of [7, 1000, 100_000]) {
  test(`the version of a list stands before its items, in pieces of ${size}`, () => {
    const body = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"x"},"items":[${items}]}\n`;
    assert.equal(read('/api/v1/pods', body, { size }).resourceVersion, '5');
  });

  test(`or behind them, where the kind is a custom one, in pieces of ${size}`, () => {
    const body = `{"apiVersion":"x/v1","items":[${items}],"kind":"ThingList","metadata":{"continue":"","resourceVersion":"6"}}\n`;
    assert.equal(read('/apis/x/v1/things', body, { size }).resourceVersion, '6');
  });
}

test('an object tells its version and UID, a refusal its reason, a finished delete the UID', () => {
  const object = { kind: 'Pod', metadata: { resourceVersion: '7', uid: 'u' } };
  assert.deepEqual(read('/api/v1/namespaces/n/pods/p', JSON.stringify(object)), {
    reason: '',
    resourceVersion: '7',
    uid: 'u',
  });
  const refusal = { kind: 'Status', status: 'Failure', reason: 'Conflict', details: {} };
  assert.equal(read('/api/v1/pods', JSON.stringify(refusal), { status: 409 }).reason, 'Conflict');
  const deleted = { kind: 'Status', status: 'Success', details: { uid: 'u' } };
  assert.equal(read('/api/v1/namespaces/n/pods/p', JSON.stringify(deleted)).uid, 'u');
});

test('what is no JSON is not read', () => {
  const headers = { 'content-type': 'text/plain' };
  assert.deepEqual(read('/readyz', 'ok', { headers }), { reason: '', resourceVersion: '', uid: '' });
  assert.deepEqual(read('/readyz', '{broken'), { reason: '', resourceVersion: '', uid: '' });
});

test('a write is effective when its answer is newer than all that was known before it', () => {
  const answer = (status: number, resourceVersion: string, uid = '') => ({
    status,
    resourceVersion,
    uid,
    reason: '',
    at: 0,
  });
  assert.equal(wasEffective(answer(200, '11'), 10), true);
  assert.equal(wasEffective(answer(200, '10'), 10), false);
  assert.equal(wasEffective(answer(409, ''), 10), false);
  assert.equal(wasEffective(answer(200, '', 'deleted-uid'), 10), true);
  assert.equal(wasEffective(answer(200, ''), 10), undefined);
});
