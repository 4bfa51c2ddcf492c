// The program as a process, as a kubelet sees it: signals, exit codes, the termination message, and volumes that fill up.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { heardLastWord, heardProgress, type LastWord } from '../../src/api/index.ts';
import { serve, startOrigin } from '../kit/origin.ts';

const program = join(import.meta.dirname, '..', '..', 'src', 'programs', 'download', 'main.ts');
const root = mkdtempSync(join(tmpdir(), 'download-process-'));
after(() => rmSync(root, { recursive: true, force: true }));

const content = randomBytes(40 * 1024 * 1024);
const version = { etag: '"one"' };
const limit = { timeout: 60_000 };

let runs = 0;

/** Starts the program with a volume and a Secret; `volume` to use one again. */
function start(url: string, { volume, args = [] }: { volume?: string; args?: string[] } = {}) {
  const folder = join(root, String(runs++));
  const target = volume ?? join(folder, 'volume');
  mkdirSync(join(folder, 'credentials'), { recursive: true });
  writeFileSync(join(folder, 'credentials', 'token'), 'canary-process-31');
  writeFileSync(join(folder, 'message'), '');
  const flags = [
    `--target=${target}`,
    '--framework=onnx',
    '--allow=127.0.0.1',
    `--credentials=${folder}/credentials`,
    `--termination-log=${folder}/message`,
  ];
  const child = spawn(process.execPath, [program, ...flags, ...args, '--', url], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  return { child, target, said: () => said, ended: () => ended(child, folder) };
}

async function ended(
  child: ChildProcess,
  folder: string,
): Promise<{ code: number | null; word: LastWord | undefined }> {
  const code = child.exitCode ?? ((await once(child, 'exit')) as [number | null])[0];
  return { code, word: heardLastWord(readFileSync(join(folder, 'message'), 'utf8')) };
}

/** A server that stops in the middle of the file until it is told to go on. */
async function halting() {
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  let halted = () => {};
  const reached = new Promise<void>((resolve) => (halted = resolve));
  let count = 0;
  const origin = await startOrigin((request, response) => {
    if (++count < 2) return serve(request, response, content, version);
    if (count > 2) return void gate.then(() => serve(request, response, content, version));
    const [, from = '0'] = /=(\d+)/.exec(request.headers.range ?? '') ?? [];
    const at = Number(from);
    response.writeHead(206, {
      ...version,
      'content-range': `bytes ${at}-${content.length - 1}/${content.length}`,
      'content-length': content.length - at,
    });
    response.write(content.subarray(at, at + 4 * 1024 * 1024), halted);
  });
  return { origin, open, reached };
}

describe('the program', limit, () => {
  test('ends with 0 and says what it fetched, and no secret', async () => {
    await using origin = await startOrigin((request, response) => serve(request, response, content, version));
    const run = start(`http://${origin.host}/m?signature=canary-query-31`);
    const { code, word } = await run.ended();
    equal(code, 0, run.said());
    ok(word?.result === 'done' && word.bytes === content.length);
    deepEqual(heardProgress(run.said()), { bytes: content.length, total: content.length });
    equal(/canary/.test(run.said()), false);
    equal(/canary/.test(readFileSync(join(run.target, '.baton', 'complete.json'), 'utf8')), false);
  });

  test('ends with 42 for a verdict', async () => {
    await using origin = await startOrigin((_request, response) => void response.writeHead(404).end());
    const { code, word } = await start(`http://${origin.host}/m`).ended();
    deepEqual(
      [code, word],
      [
        42,
        {
          result: 'verdict',
          verdict: 'SourceNotFound',
          message: `${origin.host} answered 404 Not Found; check modelURL`,
        },
      ],
    );
  });

  test('ends with 2 and words when it is called wrongly', async () => {
    for (const args of [['--digest=md5:1'], ['--connections=0'], ['--unheard-of'], ['--deny=all']]) {
      const run = start('http://model.example/m', { args });
      const { code } = await run.ended();
      equal(code, 2);
      match(run.said(), /^error: /);
    }
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    test(`goes on after ${signal} where it was`, async () => {
      const { origin, open, reached } = await halting();
      await using _ = origin;
      const url = `http://${origin.host}/m`;
      const first = start(url);
      await reached;
      if (signal === 'SIGKILL') await new Promise((resolve) => setTimeout(resolve, 300));
      const began = performance.now();
      first.child.kill(signal);
      const { code, word } = await first.ended();
      ok(performance.now() - began < 1_000, 'it stops within a second');
      if (signal === 'SIGTERM') deepEqual([code, word?.result], [1, 'fault']);
      equal(existsSync(join(first.target, 'model.onnx')), false);
      open();
      const asked = origin.requests.length;
      const second = start(url, { volume: first.target });
      equal((await second.ended()).code, 0, second.said());
      const again = origin.requests.slice(asked).map(({ headers }) => Number(/=(\d+)/.exec(headers.range ?? '')?.[1]));
      if (signal === 'SIGTERM')
        ok(
          again.every((from) => from >= 8 * 1024 * 1024),
          again.join(' '),
        );
      ok(readFileSync(join(second.target, 'model.onnx')).equals(content));
    });
});

/** Only root may mount, and only on Linux. */
const mountable = process.platform === 'linux' && process.getuid?.() === 0;

describe('a volume of 16 MiB', { ...limit, skip: mountable ? false : 'needs root on Linux, to mount one' }, () => {
  const mounted = async (use: (volume: string) => Promise<void>) => {
    const volume = mkdtempSync(join(root, 'small-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', volume]);
    try {
      await use(volume);
    } finally {
      execFileSync('umount', ['-l', volume]);
    }
  };

  test('is too small for a file whose size is known, before anything is written', () =>
    mounted(async (volume) => {
      await using origin = await startOrigin((request, response) => serve(request, response, content, version));
      const { code, word } = await start(`http://${origin.host}/m`, { volume }).ended();
      equal(code, 42);
      ok(word?.result === 'verdict' && word.verdict === 'StorageFull', JSON.stringify(word));
      match(word.message, /40\.0 MiB are needed, it has 16\.0 MiB/);
      equal(origin.requests.length, 1);
    }));

  test('is too small for a file whose size turns out on the way', () =>
    mounted(async (volume) => {
      await using origin = await startOrigin((_request, response) => {
        response.write(content.subarray(0, 1_000));
        response.end(content.subarray(1_000));
      });
      const { code, word } = await start(`http://${origin.host}/m`, { volume }).ended();
      equal(code, 42, JSON.stringify(word));
      ok(word?.result === 'verdict' && word.verdict === 'StorageFull', JSON.stringify(word));
      deepEqual(readdirSync(volume), ['.baton']);
    }));

  test('that has grown is filled from where it was full', () =>
    mounted(async (volume) => {
      const large = content.subarray(0, 20 * 1024 * 1024);
      await using origin = await startOrigin((request, response) => serve(request, response, large, version));
      writeFileSync(join(volume, 'other'), Buffer.alloc(1024 * 1024));
      equal((await start(`http://${origin.host}/m`, { volume }).ended()).code, 42);
      execFileSync('mount', ['-o', 'remount,size=64m', volume]);
      const run = start(`http://${origin.host}/m`, { volume });
      equal((await run.ended()).code, 0, run.said());
    }));
});
