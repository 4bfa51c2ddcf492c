// Files that were sent compressed, and what may go wrong on the disk while they are expanded.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decoded } from './decode.ts';
import type { Fetched } from './fetch/item.ts';
import { Fault } from './outcome.ts';

const root = mkdtempSync(join(tmpdir(), 'decode-'));
after(() => rmSync(root, { recursive: true, force: true }));
const { signal } = new AbortController();
const limit = { timeout: 10_000 };

const fetched = (name: string): Fetched => ({
  path: 'iris.onnx',
  becomes: { as: 'anything' },
  at: join(root, name),
  bytes: 1,
  sha256: '',
  encoding: 'gzip',
});

test('the file that was meant is the one inside', limit, async () => {
  const file = fetched('fine');
  writeFileSync(file.at, gzipSync('weights'));
  const { at, bytes, sha256 } = await decoded(file, signal);
  deepEqual([readFileSync(at, 'utf8'), bytes], ['weights', 7]);
  equal(sha256, createHash('sha256').update('weights').digest('hex'));
});

test('what is no gzip is refused', limit, async () => {
  const file = fetched('other');
  writeFileSync(file.at, 'weights');
  await rejects(decoded(file, signal), { verdict: 'EmptySource', message: /was sent as gzip, and is none/ });
});

test('a disk that cannot be read ends it, and does not keep it waiting', limit, async () => {
  const file = fetched('folder');
  mkdirSync(file.at);
  await rejects(decoded(file, signal), { code: 'EISDIR' });
});

test('a download that is stopped stops here, too', limit, async () => {
  const file = fetched('stopped');
  writeFileSync(file.at, gzipSync('weights'));
  const stopped = new Fault('the download was stopped');
  await rejects(decoded(file, AbortSignal.abort(stopped)), stopped);
});
