// The bench of the engine itself, with a handful of objects: it runs, it counts what it should, and it leaves nothing behind.
// Only our own side, as the Go programs take minutes to build; and no figure is judged, since machines differ.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
after(() => rmSync(folder, { recursive: true }));

const bench = (...args: string[]) =>
  promisify(execFile)(process.execPath, [main, ...args], { timeout: 300_000, killSignal: 'SIGKILL' });

test('both parts about the engine measure our side and write their figures down', async () => {
  const out = join(folder, 'bench.json');
  const small = ['--alone', '--parents', '10', '--writes', '40', '--rounds', '1', '--rest', '100'];
  const { stdout } = await bench('cache', 'writes', ...small, '--out', out);
  assert.match(stdout, /^Cache: 10 parents and 50 children/m);
  assert.match(stdout, /^Writes: 40 server-side applies/m);
  const names = (JSON.parse(readFileSync(out, 'utf8')) as { name: string }[]).map(({ name }) => name);
  for (const name of ['cache: memory after a rest', 'writes, 1 worker: CPU a write'])
    assert.ok(names.includes(name), names.join('\n'));
  assert.match(stdout, /^Goals: \d of 3 met$/m);
  const rounds = readFileSync(join(folder, 'bench-rounds.json'), 'utf8');
  const { cache, writes } = JSON.parse(rounds) as Rounds;
  const [filled] = cache.ours;
  for (const figure of ['rss', 'collected', 'peak', 'synced', 'cpu', 'stall', 'work', 'passed'])
    assert.ok((filled?.[figure] ?? 0) > 0, `${figure} is ${filled?.[figure]}`);
  assert.deepEqual(
    writes.rounds.map(({ workers }) => workers),
    [1, 10, 20],
  );
  for (const { ours } of writes.rounds) assert.ok(ours.cpu > 0 && ours.ms > 0);
});

test('models become Ready in both of our ways, and are found Ready by a program that starts again', async () => {
  const out = join(folder, 'models.json');
  const small = ['--alone', '--models', '4', '--rounds', '1', '--steady', '1'];
  const { stdout } = await bench('models', ...small, '--out', out);
  assert.match(stdout, /^Models: 4 to Ready, medians of 1 rounds$/m);
  const figures = JSON.parse(readFileSync(out, 'utf8')) as { name: string; value: number }[];
  const value = (name: string) => figures.find((one) => one.name === `models: ${name}`)?.value ?? Number.NaN;
  for (const name of ['Baton', 'Baton, images'])
    for (const what of ['time to Ready', 'own CPU', 'CPU of the whole cluster', 'peak memory'])
      assert.ok(value(`${what}, ${name}`) > 0, `${what}, ${name} is ${value(`${what}, ${name}`)}`);
  assert.ok(value('requests a model, Baton') > value('requests a model, Baton, images'));
  assert.equal(value('duplicate status writes'), 0);
  assert.ok(value('restart to rest') > 0);
});

interface Rounds {
  cache: { ours: Record<string, number>[] };
  writes: { rounds: { workers: number; ours: { ms: number; cpu: number } }[] };
}

test('a part that does not exist is named, and nothing is started', async () => {
  await assert.rejects(
    bench('memory'),
    /there is no part memory: it is one of cache, writes, download, registry, serve/,
  );
});
