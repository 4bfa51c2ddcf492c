// Whom a download believes: servers that do not speak HTTP, certificates, and who gets the credentials.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Desk } from '../kit/downloads.ts';
import { serve, startOrigin } from '../kit/origin.ts';
import { makeAuthority, ScriptedPeer } from '../kit/scripted-peer.ts';

const content = randomBytes(40 * 1024 * 1024 + 12_345);
const small = randomBytes(300_000);
const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const version = { etag: '"one"' };
const limit = { timeout: 60_000 };

const fileServer = (bytes: Buffer) => startOrigin((request, response) => serve(request, response, bytes, version));

describe('what is no HTTP', limit, () => {
  const heads: [string, string][] = [
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    ],
    ['a folded field', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n folded\r\n\r\nhello'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n\r\n'],
    ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`],
    ['more than it said', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhello'],
    ['chunks that do not fit', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n'],
  ];
  for (const [name, bytes] of heads)
    test(`${name}: a fault, and nothing is kept`, async () => {
      await using peer = await ScriptedPeer.start([(socket) => void socket.end(bytes)]);
      using desk = new Desk();
      const word = await desk.run(`http://127.0.0.1:${peer.port}/m`);
      equal(word.result, 'fault', JSON.stringify(word));
      equal(existsSync(join(desk.volume, 'model.onnx')), false);
    });
});

describe('TLS', limit, () => {
  const now = Date.now();
  const authority = makeAuthority(now);
  const named = (addresses: string[], by = authority) => {
    const { certificate: cert, key } = by.issue({ name: 'server', addresses });
    return { cert, key };
  };
  const old = makeAuthority(now - 90 * 24 * 3600 * 1000);
  const trust = (desk: Desk, { certificate } = authority) => desk.secret({ 'ca.crt': certificate });
  const rows: [string, { cert: string; key: string }, typeof old | undefined, RegExp][] = [
    ['of an unknown authority', named(['weights.example']), undefined, /unknown authority; put it into ca\.crt/],
    ['that has expired', named(['weights.example'], old), old, /has expired/],
    ['for another name', named(['other.example']), authority, /another name/],
  ];
  test('with a ca.crt that holds no certificate is refused before anybody is asked', async () => {
    await using origin = await fileServer(small);
    using desk = new Desk();
    desk.secret({ 'ca.crt': 'my authority' });
    const word = await desk.run(`http://${origin.host}/m`);
    ok(word.result === 'verdict' && word.verdict === 'SourceTLSError', JSON.stringify(word));
    match(word.message, /^ca\.crt holds no certificate/);
    equal(origin.requests.length, 0);
  });

  for (const [name, tls, trusted, said] of rows)
    test(`with a certificate ${name} is refused`, async () => {
      await using origin = await startOrigin((request, response) => serve(request, response, small, version), { tls });
      using desk = new Desk();
      if (trusted) trust(desk, trusted);
      const word = await desk.run(`https://weights.example:${origin.port}/m`);
      ok(word.result === 'verdict' && word.verdict === 'SourceTLSError', JSON.stringify(word));
      match(word.message, said);
      equal(origin.requests.length, 0);
    });

  test('with an authority of the Secret is trusted, over many connections', async () => {
    await using origin = await startOrigin((request, response) => serve(request, response, content, version), {
      tls: named(['weights.example']),
    });
    using desk = new Desk();
    trust(desk);
    deepEqual(await desk.run(`https://weights.example:${origin.port}/m`), {
      result: 'done',
      digest: digestOf(content),
      bytes: content.length,
    });
  });

  test('is not spoken by everybody', async () => {
    await using origin = await fileServer(small);
    using desk = new Desk();
    const word = await desk.run(`https://${origin.host}/m`);
    ok(word.result === 'verdict' && word.verdict === 'SourceTLSError', JSON.stringify(word));
    match(word.message, /: it does not speak TLS; write http:\/\/ in modelURL if that is meant \(ERR_SSL/);
  });

  test('is not left for plain HTTP', async () => {
    await using plain = await fileServer(small);
    await using origin = await startOrigin(
      (_request, response) => void response.writeHead(302, { location: `http://${plain.host}/m` }).end(),
      { tls: named(['weights.example']) },
    );
    using desk = new Desk();
    trust(desk);
    const word = await desk.run(`https://weights.example:${origin.port}/m`);
    ok(word.result === 'verdict' && word.verdict === 'SourceTLSError');
    match(word.message, /redirects from https to http/);
    equal(plain.connections(), 0);
  });
});

describe('credentials', limit, () => {
  const secret = 'canary-5b1f';
  test('go to the host that was named and to no other', async () => {
    await using other = await fileServer(content);
    await using origin = await startOrigin((request, response) => {
      const location = request.url === '/m' ? '/moved' : `http://${other.host}/elsewhere`;
      response.writeHead(302, { location }).end();
    });
    using desk = new Desk();
    desk.secret({ token: secret });
    const word = await desk.run(`http://${origin.host}/m`);
    equal(word.result, 'done', JSON.stringify(word));
    deepEqual(
      origin.requests.map(({ path, headers }) => [path, headers.authorization]),
      [
        ['/m', `Bearer ${secret}`],
        ['/moved', `Bearer ${secret}`],
      ],
    );
    ok(other.requests.length > 1, 'later ranges go straight to where the first was found');
    ok(other.requests.every(({ headers }) => headers.authorization === undefined));
    equal(`${JSON.stringify(word)}${desk.log}`.includes(secret), false);
  });

  test('of a name and a password are sent as such, and shown nowhere', async () => {
    await using origin = await startOrigin((_request, response) => void response.writeHead(401).end());
    using desk = new Desk();
    desk.secret({ username: 'me', password: secret });
    const word = await desk.run(`http://${origin.host}/m?signature=${secret}`);
    equal(origin.requests[0]?.headers.authorization, `Basic ${Buffer.from(`me:${secret}`).toString('base64')}`);
    equal(`${JSON.stringify(word)}${desk.log}`.includes(secret), false);
    const notes = readdirSync(join(desk.volume, '.baton'), { recursive: true, encoding: 'utf8' });
    equal(
      notes.some((name) => name.includes(secret)),
      false,
    );
  });

  test('that cannot be sent are refused without being shown', async () => {
    await using origin = await fileServer(small);
    using desk = new Desk();
    desk.secret({ token: `${secret}\u00e9\r\nx: y` });
    const word = await desk.run(`http://${origin.host}/m`);
    ok(word.result === 'verdict' && word.verdict === 'SourceUnauthorized', JSON.stringify(word));
    equal(word.message.includes(secret), false);
    equal(origin.requests.length, 0);
  });
});

test('a place behind redirects that closes is looked for anew', limit, async () => {
  let served = 0;
  await using store = await startOrigin((request, response) => {
    const stale = request.url === '/signed-1' && served++ >= 2;
    if (stale) response.writeHead(403).end();
    else serve(request, response, content, version);
  });
  let signed = 0;
  await using origin = await startOrigin(
    (_request, response) => void response.writeHead(307, { location: `http://${store.host}/signed-${++signed}` }).end(),
  );
  using desk = new Desk();
  equal((await desk.run(`http://${origin.host}/m`, { args: ['--connections=1'] })).result, 'done');
  ok(signed >= 2);
});
