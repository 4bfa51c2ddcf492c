// The registry bench itself, with a small image: it runs on both sides and counts what it should. No figure is judged.

import { match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const main = fileURLToPath(new URL('../../bench/registry/main.ts', import.meta.url));

test('the registry bench measures both sides', async () => {
  const args = [main, '--rounds', '1', '--mebibytes', '8'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 120_000, killSignal: 'SIGKILL' });
  for (const way of ['push', 'pull'])
    for (const form of ['one layer', '8 layers'])
      match(stdout, new RegExp(`^${way}, ${form}: ours to crane +[\\d.]+ +ratio +<= 1 +(met|missed)$`, 'm'));
});
