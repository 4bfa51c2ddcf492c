// The parts of the bench about programs, with small files and for a moment: they run and count what they should. Only our side
// of the model server, whose peer takes long to install. No figure is judged.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
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

/** What a part prints, having written its figures down, and every round of them under its own name. */
async function printed(part: string): Promise<string> {
  const out = join(folder, `${part}.json`);
  const amount = ['--alone', '--rounds=1', '--mebibytes=8', '--seconds=0.3', `--out=${out}`];
  const { stdout } = await promisify(execFile)(process.execPath, [main, part, ...amount], {
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  for (const figure of read(out) as Record<string, unknown>[]) isWhole(figure);
  deepEqual(Object.keys(read(join(folder, `${part}-rounds.json`)) as object), [part]);
  return stdout;
}

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** A figure with all its fields, whose goal is judged exactly where there is one. */
function isWhole(figure: Record<string, unknown>): void {
  deepEqual(Object.keys(figure), ['name', 'value', 'unit', 'goal', 'met']);
  ok(Number.isFinite(figure['value']) && Number(figure['value']) >= 0, JSON.stringify(figure));
  equal(typeof figure['met'], figure['goal'] === null ? 'object' : 'boolean');
}

const ratio = (name: string, goal: string): RegExp =>
  new RegExp(`^${name} +[\\d.]+ +ratio +${goal} +(met|missed)$`, 'm');

test('the serve bench measures our side', async () => {
  const text = await printed('serve');
  for (const scenario of ['JSON, 32 connections', 'binary, 32 connections', 'JSON, 1 connection'])
    match(text, new RegExp(`^serve: ${scenario}, requests a second +[1-9]`, 'm'));
});

test('the download bench measures all sides', async () => {
  const text = await printed('download');
  for (const server of ['as fast as it goes', '10 Gbit/s', '2.5 Gbit/s'])
    match(text, ratio(`download, ${server}: ours to raw`, '>= 0.9'));
});

test('the registry bench measures both sides', async () => {
  const text = await printed('registry');
  for (const way of ['push', 'pull'])
    for (const form of ['one layer', '8 layers']) match(text, ratio(`${way}, ${form}: ours to crane`, '<= 1'));
});
