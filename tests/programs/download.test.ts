// Downloads over HTTP from a server that does what servers do on bad days: cuts, changes, lies, sends elsewhere, drips.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Desk, haste } from '../kit/downloads.ts';
import { type Origin, serve, type Serving, startOrigin } from '../kit/origin.ts';
import { tar } from '../kit/archives/tar.ts';

const mebibyte = 1024 * 1024;
const content = randomBytes(40 * mebibyte + 12_345);
const small = randomBytes(300_000);
const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const version = { etag: '"one"' };
const limit = { timeout: 60_000 };

const ranges = ({ requests }: Origin) => requests.map(({ headers }) => headers.range ?? 'all');

/** A server that serves one file, with something special for the first few requests. */
const fileServer = (bytes: Buffer, special: Serving[], usual: Serving = version): Promise<Origin> => {
  let count = 0;
  return startOrigin((request, response) => serve(request, response, bytes, { ...usual, ...special[count++] }));
};

describe('a file', limit, () => {
  test('is fetched in ranges, hashed and put in its place; a second run fetches nothing', async () => {
    await using origin = await fileServer(content, []);
    using desk = new Desk();
    const url = `http://${origin.host}/models/iris.onnx`;
    const word = await desk.run(url);
    deepEqual(word, { result: 'done', digest: digestOf(content), bytes: content.length });
    ok(readFileSync(join(desk.volume, 'model.onnx')).equals(content));
    deepEqual(readdirSync(join(desk.volume, '.baton')), ['complete.json']);
    deepEqual(desk.progress.at(-1), { bytes: content.length, total: content.length });
    const asked = origin.requests.length;
    deepEqual(await desk.run(url), word);
    equal(origin.requests.length, asked);
  });

  test('is arranged anew for a framework that wants it otherwise', async () => {
    await using origin = await fileServer(small, []);
    using desk = new Desk();
    const names: string[][] = [];
    for (const framework of ['custom', 'onnx', 'custom']) {
      const word = await desk.run(`http://${origin.host}/iris.bin`, { args: [`--framework=${framework}`] });
      equal(word.result, 'done', JSON.stringify(word));
      names.push(Object.keys(desk.files()));
    }
    deepEqual(names, [['iris.bin'], ['model.onnx'], ['iris.bin']]);
  });

  test('that is cut twice is resumed where it was cut', async () => {
    const cuts = [{}, { cutAfter: 5 * mebibyte }, { cutAfter: 3 * mebibyte }];
    await using origin = await fileServer(content, cuts);
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`, {
      args: ['--connections=1', `--digest=${digestOf(content)}`],
    });
    equal(word.result, 'done', JSON.stringify(word));
    const starts = ranges(origin).map((range) => Number(/=(\d+)/.exec(range)?.[1]) / mebibyte);
    deepEqual(starts.map(Math.floor), [0, 8, 13, 16, 40]);
    ok(origin.requests.slice(1).every(({ headers }) => headers['if-range'] === '"one"'));
    match(desk.log, /was lost|closed the connection too early/);
  });

  test('survives a server that is away for a while, with all its connections', async () => {
    let away = false;
    let since = 0;
    await using origin = await startOrigin((request, response) => {
      if (!away && since === 0 && origin.requests.length === 3) [away, since] = [true, performance.now()];
      if (away && performance.now() - since > (20 * 1_000) / haste) away = false;
      if (away) return void response.destroy();
      serve(request, response, content, version);
    });
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`);
    deepEqual(word, { result: 'done', digest: digestOf(content), bytes: content.length });
  });

  test('that was stopped is resumed by the next run, from what is on the disk', async () => {
    const stop = new AbortController();
    let sent = 0;
    await using origin = await startOrigin((request, response) => {
      if (sent++ === 2) stop.abort(new Error('stopped'));
      serve(request, response, content, { ...version, cutAfter: sent > 2 && sent < 5 ? mebibyte : undefined });
    });
    using desk = new Desk();
    const url = `http://${origin.host}/m`;
    await desk
      .run(url, { signal: stop.signal, args: ['--connections=2'] })
      .catch((error: Error) => match(error.message, /stopped/));
    deepEqual(desk.files(), {});
    const before = origin.requests.length;
    equal((await desk.run(url)).result, 'done');
    ok(
      ranges(origin)
        .slice(before)
        .every((range) => !range.startsWith('bytes=0-')),
      ranges(origin).join(' '),
    );
    ok(readFileSync(join(desk.volume, 'model.onnx')).equals(content));
  });

  test('that changes in the middle is begun anew, and never mixed', async () => {
    const other = randomBytes(content.length);
    let count = 0;
    await using origin = await startOrigin((request, response) => {
      const changed = count++ >= 2;
      serve(request, response, changed ? other : content, { etag: changed ? '"two"' : '"one"' });
    });
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`, { args: ['--connections=1'] });
    deepEqual(word, { result: 'done', digest: digestOf(other), bytes: other.length });
    match(desk.log, /begun anew/);
  });

  test('that changes at a server which ignores conditions is not mixed either', async () => {
    const other = randomBytes(content.length);
    let count = 0;
    await using origin = await startOrigin((request, response) => {
      const changed = count++ >= 2;
      delete request.headers['if-range'];
      serve(request, response, changed ? other : content, { etag: changed ? '"two"' : '"one"' });
    });
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`, { args: ['--connections=1'] });
    deepEqual(word, { result: 'done', digest: digestOf(other), bytes: other.length });
  });

  test('that changes between two runs is begun anew', async () => {
    const other = randomBytes(content.length + 5);
    const stop = new AbortController();
    let count = 0;
    await using origin = await startOrigin((request, response) => {
      if (count++ === 1) stop.abort(new Error('stopped'));
      if (stop.signal.aborted && count > 3)
        serve(request, response, other, { modified: 'Tue, 02 Jan 2029 00:00:00 GMT' });
      else serve(request, response, content, { modified: 'Mon, 01 Jan 2029 00:00:00 GMT' });
    });
    using desk = new Desk();
    const url = `http://${origin.host}/m`;
    await desk.run(url, { signal: stop.signal, args: ['--connections=1'] }).catch(() => {});
    count = 10;
    deepEqual(await desk.run(url), { result: 'done', digest: digestOf(other), bytes: other.length });
  });

  test('from a server without ranges comes in one piece, from the beginning after a cut', async () => {
    await using origin = await fileServer(small, [{ cutAfter: 100_000 }], { ...version, ranges: 'no' });
    using desk = new Desk();
    equal((await desk.run(`http://${origin.host}/m`)).result, 'done');
    ok(readFileSync(join(desk.volume, 'model.onnx')).equals(small));
    equal(origin.requests.length, 2);
  });

  test('from a server that does not name versions is fetched in one piece, unless its digest is known', async () => {
    await using origin = await fileServer(content, [], {});
    using one = new Desk();
    equal((await one.run(`http://${origin.host}/m`)).result, 'done');
    deepEqual(ranges(origin).slice(1), ['all']);
    using two = new Desk();
    equal((await two.run(`http://${origin.host}/m`, { args: [`--digest=${digestOf(content)}`] })).result, 'done');
    ok(
      ranges(origin)
        .slice(2)
        .every((range) => range !== 'all'),
    );
  });

  test('that breaks off each time at the same place ends as a fault that says so', async () => {
    await using origin = await startOrigin((request, response) =>
      serve(request, response, small, { ...version, ranges: 'no', cutAfter: Math.floor(small.length * 0.63) }),
    );
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`);
    equal(word.result, 'fault');
    deepEqual(desk.files(), {});
    ok(origin.requests.length > 3 && origin.requests.length < 12, `${origin.requests.length}`);
  });

  test('of nothing, or a web page where it should be, is no model', async () => {
    const answers: [string, (request: IncomingMessage, response: ServerResponse) => void, RegExp][] = [
      ['200', (_request, response) => void response.end(), /0 bytes/],
      ['416', (request, response) => serve(request, response, Buffer.alloc(0), version), /0 bytes/],
      [
        'page',
        (_request, response) =>
          void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>'),
        /web page/,
      ],
    ];
    for (const [name, answer, said] of answers) {
      await using origin = await startOrigin(answer);
      using desk = new Desk();
      const word = await desk.run(`http://${origin.host}/m`);
      ok(word.result === 'verdict' && word.verdict === 'EmptySource', `${name}: ${JSON.stringify(word)}`);
      match(word.message, said);
    }
  });

  test('with another digest than asked for is not kept', async () => {
    await using origin = await fileServer(small, []);
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`, { args: [`--digest=sha256:${'0'.repeat(64)}`] });
    ok(word.result === 'verdict' && word.verdict === 'ChecksumMismatch');
    match(word.message, new RegExp(`should be sha256:0{64}, and is ${digestOf(small)}`));
    deepEqual(desk.files(), {});
    deepEqual(readdirSync(join(desk.volume, '.baton', 'parts')), []);
  });

  test('that is too large for the volume is not begun', async () => {
    await using origin = await startOrigin((_request, response) => {
      response.writeHead(206, { ...version, 'content-range': `bytes 0-99/${10 ** 15 - 1}`, 'content-length': 100 });
      response.end(Buffer.alloc(100));
    });
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`);
    ok(word.result === 'verdict' && word.verdict === 'StorageFull', JSON.stringify(word));
    match(word.message, /909\.5 TiB are needed, it has [\d.]+ [GT]iB; ask for more in storageSize/);
  });

  test('that comes too slowly is given up', async () => {
    await using origin = await startOrigin((_request, response) => {
      response.writeHead(200, { 'content-length': 10 ** 6 });
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(drip));
    });
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`, { args: ['--rate-window=5'] });
    ok(word.result === 'verdict' && word.verdict === 'SourceTooSlow', JSON.stringify(word));
    match(word.message, /bytes came in 5 s of waiting; 10240 a second are the least/);
  });

  test('that never comes to its end is given up at the deadline', async () => {
    await using origin = await startOrigin((_request, response) => {
      response.writeHead(200, {});
      const drip = setInterval(() => response.write(Buffer.alloc(65_536)), 20);
      response.on('close', () => clearInterval(drip));
    });
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`, { args: ['--deadline=1'] });
    ok(word.result === 'verdict' && word.verdict === 'SourceTooSlow', JSON.stringify(word));
    match(word.message, /is not there after/);
  });
});

describe('an answer', limit, () => {
  const verdicts: [number, string][] = [
    [204, 'EmptySource'],
    [301, 'SourceNotFound'],
    [400, 'SourceNotFound'],
    [401, 'SourceUnauthorized'],
    [403, 'SourceUnauthorized'],
    [404, 'SourceNotFound'],
    [410, 'SourceNotFound'],
    [418, 'SourceNotFound'],
  ];
  for (const [status, verdict] of verdicts)
    test(`${status} is the verdict ${verdict}, at once`, async () => {
      await using origin = await startOrigin((_request, response) => void response.writeHead(status).end('no'));
      using desk = new Desk();
      const word = await desk.run(`http://${origin.host}/m`);
      ok(word.result === 'verdict' && word.verdict === verdict);
      match(word.message, new RegExp(`answered ${status}.*; check (?:modelURL|the Secret)`));
      equal(origin.requests.length, 1);
    });

  test('503 is waited for, as long as it asks', async () => {
    let count = 0;
    const times: number[] = [];
    await using origin = await startOrigin((request, response) => {
      times.push(performance.now());
      if (count++ === 0) response.writeHead(503, { 'retry-after': '3' }).end();
      else serve(request, response, small, version);
    });
    using desk = new Desk();
    equal((await desk.run(`http://${origin.host}/m`)).result, 'done');
    ok((times[1] ?? 0) - (times[0] ?? 0) >= 3_000 / haste - 5, 'three seconds of a clock that runs fast');
  });

  test('503 for ever is a fault, after a number of tries', async () => {
    await using origin = await startOrigin((_request, response) => void response.writeHead(503).end());
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`);
    deepEqual(word, { result: 'fault', message: `${origin.host} answered 503 Service Unavailable` });
    equal(origin.requests.length, 9);
  });

  test('409 is a fault that is not tried again in the same run', async () => {
    await using origin = await startOrigin((_request, response) => void response.writeHead(409).end());
    using desk = new Desk();
    equal((await desk.run(`http://${origin.host}/m`)).result, 'fault');
    equal(origin.requests.length, 1);
  });

  test('that points to what is no URL is followed nowhere, and asked for once', async () => {
    const location = { location: 'http://[nowhere' };
    await using origin = await startOrigin((_request, response) => void response.writeHead(302, location).end());
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`);
    ok(word.result === 'verdict' && word.verdict === 'SourceNotFound', JSON.stringify(word));
    match(word.message, /no URL; check modelURL/);
    equal(origin.requests.length, 1);
  });

  test('with another range than asked for is not believed', async () => {
    await using origin = await startOrigin((request, response) => {
      if (request.headers.range === undefined) return serve(request, response, small, version);
      response.writeHead(206, { ...version, 'content-range': `bytes 10-99/${small.length}`, 'content-length': 90 });
      response.end(small.subarray(10, 100));
    });
    using desk = new Desk();
    deepEqual(await desk.run(`http://${origin.host}/m`), {
      result: 'done',
      digest: digestOf(small),
      bytes: small.length,
    });
  });

  test('without a length ends where its chunks end, or the connection', async () => {
    await using chunked = await startOrigin((_request, response) => {
      response.write(small.subarray(0, 1_000));
      setTimeout(() => response.end(small.subarray(1_000)), 20);
    });
    using one = new Desk();
    deepEqual(await one.run(`http://${chunked.host}/m`), {
      result: 'done',
      digest: digestOf(small),
      bytes: small.length,
    });
    await using closed = await startOrigin((_request, response) => {
      response.useChunkedEncodingByDefault = false;
      response.setHeader('connection', 'close');
      response.removeHeader('transfer-encoding');
      response.end(small);
    });
    using two = new Desk();
    deepEqual(await two.run(`http://${closed.host}/m`), {
      result: 'done',
      digest: digestOf(small),
      bytes: small.length,
    });
  });

  test('that says a greater length than it has is no whole file', async () => {
    await using origin = await startOrigin((_request, response) => {
      response.writeHead(200, { 'content-length': small.length + 10 });
      response.write(small, () => setTimeout(() => response.destroy(), 10));
    });
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`);
    equal(word.result, 'fault');
    deepEqual(desk.files(), {});
  });

  test('that is a bad archive leaves nothing of it behind', async () => {
    const archive = tar({ name: 'good', content: small }, { name: '../evil', content: 'x' });
    await using origin = await fileServer(archive, []);
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m.tar`);
    ok(word.result === 'verdict' && word.verdict === 'UnsafeArchive', JSON.stringify(word));
    const left = readdirSync(desk.volume, { recursive: true, encoding: 'utf8' });
    deepEqual(
      left.filter((name) => /good|evil/.test(name)),
      [],
    );
  });

  test('that was compressed though nobody asked for it is expanded, if the name does not say so', async () => {
    const archive = gzipSync(tar({ name: 'a/iris.onnx', content: small }));
    await using origin = await startOrigin((request, response) => {
      const bytes = request.url === '/m.onnx' ? gzipSync(small) : archive;
      serve(request, response, bytes, { ...version, headers: { 'content-encoding': 'gzip' } });
    });
    using one = new Desk();
    deepEqual(await one.run(`http://${origin.host}/m.onnx`), {
      result: 'done',
      digest: digestOf(small),
      bytes: small.length,
    });
    using two = new Desk();
    equal((await two.run(`http://${origin.host}/m.tar.gz`)).result, 'done');
    deepEqual(Object.keys(two.files()), ['a/iris.onnx']);
    deepEqual(
      origin.requests.map(({ headers }) => headers['accept-encoding']),
      ['identity', 'identity'],
    );
  });
});
