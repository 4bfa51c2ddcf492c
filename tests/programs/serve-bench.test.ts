// The serve bench itself, for a moment and only our side: it runs and counts what it should. No figure is judged.

import { match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const main = fileURLToPath(new URL('../../bench/serve/main.ts', import.meta.url));

test('the serve bench measures our side', async () => {
  const args = [main, '--alone', '--rounds', '1', '--seconds', '0.3'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 120_000, killSignal: 'SIGKILL' });
  for (const scenario of ['JSON, 32 connections', 'binary, 32 connections', 'JSON, 1 connection'])
    match(stdout, new RegExp(`^serve: ${scenario}, requests a second +[1-9]`, 'm'));
});
