import { equal, rejects } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Hasher } from './hasher.ts';

const folder = mkdtempSync(join(tmpdir(), 'hasher-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function file(size: number): { path: string; bytes: Buffer } {
  const bytes = randomBytes(size);
  const path = join(folder, String(Math.random()));
  writeFileSync(path, bytes);
  return { path, bytes };
}

test('several files are hashed at once, however they grow', { timeout: 60_000 }, async () => {
  await using hasher = new Hasher();
  const sizes = [0, 1, 262_143, 262_144, 262_145, 3_000_001, 1_048_576];
  const digests = sizes.map(async (size, index) => {
    const { path, bytes } = file(size);
    const following = hasher.follow(path);
    for (let at = 0; at < size; at += 100_000 * (index + 1)) {
      following.upto(at);
      if (index % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return [await following.finish(size), sha256(bytes)];
  });
  for (const [found, expected] of await Promise.all(digests)) equal(found, expected);
});

test('a file that is let go does not disturb the others', { timeout: 60_000 }, async () => {
  await using hasher = new Hasher();
  const [a, b] = [file(2_000_000), file(2_000_000)];
  const first = hasher.follow(a.path);
  first.upto(2_000_000);
  first.drop();
  const second = hasher.follow(b.path);
  equal(await second.finish(2_000_000), sha256(b.bytes));
});

test('a file that is not there, or too short, is an error of that file alone', { timeout: 60_000 }, async () => {
  await using hasher = new Hasher();
  const { path, bytes } = file(100);
  await rejects(hasher.follow(path).finish(101), /shorter than what was written/);
  await rejects(hasher.follow(join(folder, 'nothing')).finish(1), /ENOENT/);
  equal(await hasher.follow(path).finish(100), sha256(bytes));
});
