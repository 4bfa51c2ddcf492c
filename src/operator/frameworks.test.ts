import { deepEqual, equal, match } from 'node:assert/strict';
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

test('what no node, no pod and no registry could take is refused, with the field and what it should be', () => {
  const rows: [change: object, words: RegExp][] = [
    [{ arch: 'x86_64' }, /^vllm\.arch: must be as nodes say it in kubernetes\.io\/arch: amd64, arm64/],
    [{ env: { '1 x': 'a' } }, /^vllm\.env\.1 x: a variable begins with a letter and has no blanks/],
    [{ image: ' ' }, /^vllm\.image: must be the name of an image, without blanks$/],
    [{ image: '' }, /^vllm\.image: must be the name of an image/],
  ];
  for (const [change, words] of rows)
    match((readFrameworks({ vllm: change }) as { wrong?: string }).wrong ?? '', words);
});
