import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { readFrameworks, tableOf } from './frameworks.ts';

test('a row is changed field by field; of another image nobody knows for which nodes it is built', () => {
  const row = (change: object) => tableOf('baton:1', { tensorflow: change })['tensorflow'];
  equal(row({ port: 9000 })?.arch, 'amd64');
  equal(row({ image: 'mirror.example/serving:2.19.1' })?.arch, undefined);
  equal(row({ image: 'mine:1', arch: 'arm64' })?.arch, 'arm64');
  deepEqual(row({ env: { A: 'b' } })?.env, { A: 'b' });
});

test('what is read has the right form', () => {
  deepEqual(readFrameworks({ vllm: { env: { VLLM_LOGGING_LEVEL: 'DEBUG' }, arch: 'arm64' } }), {
    value: { vllm: { env: { VLLM_LOGGING_LEVEL: 'DEBUG' }, arch: 'arm64' } },
  });
  deepEqual(Object.keys(readFrameworks({ vllm: { env: { A: 1 } } })), ['wrong']);
});
