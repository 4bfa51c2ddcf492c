// The corpus of addresses, as URLs and as redirects, against servers that only count: whatever a user writes, and whatever
// a server or a name server answers, nothing that is forbidden is ever connected to.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { once } from 'node:events';
import { Desk } from '../kit/downloads.ts';
import { startOrigin } from '../kit/origin.ts';

/** A server that nobody may reach; on both kinds of loopback where there are both. */
async function canary() {
  let reached = 0;
  const server = createServer((socket) => {
    reached++;
    socket.destroy();
  });
  server.listen(0, '::').on('error', () => server.listen(0, '0.0.0.0'));
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { port, reached: () => reached, [Symbol.dispose]: () => void server.close() };
}

/** Only what a test says: nothing is open. */
const closed = ['--allow=203.0.113.1'];

describe('forbidden', { timeout: 60_000 }, () => {
  const hosts = [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '0',
    '0.0.0.0',
    '2130706433',
    '0x7f000001',
    '0x7f.0x0.0x0.0x1',
    '017700000001',
    '0177.0.0.01',
    '0177.1',
    '127.0.0.1.',
    '１２７.0.0.1',
    '①②⑦.0.0.1',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[::ffff:0:127.0.0.1]',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '[::ffff:169.254.169.254]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
    '[ff02::1]',
  ];
  for (const host of hosts)
    test(`http://${host}`, async () => {
      using trap = await canary();
      using desk = new Desk();
      const word = await desk.run(`http://${host}:${trap.port}/latest/meta-data`, { args: closed });
      ok(word.result === 'verdict' && word.verdict === 'EgressDenied', JSON.stringify(word));
      equal(word.message.includes('meta-data'), false, 'the host is named, not the path');
      equal(trap.reached(), 0);
    });

  const noUrls = [
    'http://[fe80::1%25lo]/',
    'http://127.0.0.1:99999/',
    'http://',
    'http://256.256.256.256/',
    'http://a b/',
  ];
  for (const url of noUrls)
    test(`${url} is no URL`, async () => {
      using desk = new Desk();
      const word = await desk.run(url, { args: closed });
      equal(word.result, 'verdict', JSON.stringify(word));
    });

  for (const url of [
    'file:///etc/passwd',
    'gopher://127.0.0.1:70/x',
    'ftp://127.0.0.1/x',
    'data:,x',
    'javascript:1',
    '//127.0.0.1/x',
    'pvc://claim',
  ])
    test(`${url} is no way to download`, async () => {
      using desk = new Desk();
      const word = await desk.run(url, { args: closed });
      ok(word.result === 'verdict' && word.verdict === 'EgressDenied', JSON.stringify(word));
    });
});

describe('names', { timeout: 60_000 }, () => {
  const answers: [string, string[]][] = [
    ['loopback', ['127.0.0.1']],
    ['a good address and a bad one', ['203.0.113.1', '169.254.169.254']],
    ['a mapped one', ['::ffff:127.0.0.1']],
    ['IPv6 loopback', ['::1']],
  ];
  for (const [name, addresses] of answers)
    test(`that mean ${name} are refused`, async () => {
      using trap = await canary();
      using desk = new Desk();
      const word = await desk.run(`http://model.example:${trap.port}/m`, {
        args: closed,
        resolve: () => Promise.resolve(addresses),
      });
      ok(word.result === 'verdict' && word.verdict === 'EgressDenied', JSON.stringify(word));
      match(word.message, /^model\.example is /);
      equal(trap.reached(), 0);
    });

  test('that mean something else each time are judged each time', async () => {
    using trap = await canary();
    await using origin = await startOrigin((_request, response) => void response.writeHead(503).end());
    using desk = new Desk();
    let asked = 0;
    const resolve = () => Promise.resolve(asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']);
    const word = await desk.run(`http://model.example:${origin.port}/m`, {
      args: [`--allow=127.0.0.1:${origin.port}`],
      resolve,
    });
    // The first connection is closed by then: the second answer is judged, not believed.
    ok(word.result === 'verdict' ? word.verdict === 'EgressDenied' : asked === 1, JSON.stringify(word));
    equal(trap.reached(), 0);
  });
});

describe('redirects', { timeout: 60_000 }, () => {
  const targets = (port: number) => [
    `http://127.0.0.2:${port}/`,
    `http://[::1]:${port}/`,
    `//0x7f.2:${port}/`,
    `http://169.254.169.254/latest/meta-data/iam`,
    `http://[::ffff:7f00:2]:${port}/`,
    `http://user:pass@127.0.0.2:${port}/`,
    'file:///etc/passwd',
    'gopher://127.0.0.2/',
  ];
  test('to what is forbidden are not followed', async () => {
    using trap = await canary();
    for (const location of targets(trap.port)) {
      await using origin = await startOrigin((_request, response) => void response.writeHead(302, { location }).end());
      using desk = new Desk();
      const word = await desk.run(`http://${origin.host}/m`, { args: [`--allow=${origin.host}`] });
      ok(word.result === 'verdict' && word.verdict === 'EgressDenied', `${location}: ${JSON.stringify(word)}`);
      equal(word.message.includes('iam'), false);
      equal(origin.requests.length, 1);
    }
    equal(trap.reached(), 0);
  });

  test('without an end are not followed to it', async () => {
    await using origin = await startOrigin(
      (request, response) => void response.writeHead(302, { location: `${request.url}x` }).end(),
    );
    using desk = new Desk();
    const word = await desk.run(`http://${origin.host}/m`);
    deepEqual(word, {
      result: 'verdict',
      verdict: 'SourceNotFound',
      message: `${origin.host} redirects more than 10 times`,
    });
    equal(origin.requests.length, 11);
  });

  test('of buckets, hubs and registries go the same way', async () => {
    using trap = await canary();
    await using origin = await startOrigin(
      (_request, response) => void response.writeHead(307, { location: `http://127.0.0.2:${trap.port}/` }).end(),
    );
    for (const url of ['s3://bucket/key', 'hf://owner/name', `oci://${origin.host}/models/iris:1`]) {
      using desk = new Desk();
      desk.secret({ endpoint: `http://${origin.host}` });
      const word = await desk.run(url, {
        args: [`--allow=${origin.host}`, `--plain-http=${origin.host},127.0.0.2:${trap.port}`],
      });
      ok(word.result === 'verdict' && word.verdict === 'EgressDenied', `${url}: ${JSON.stringify(word)}`);
    }
    equal(trap.reached(), 0);
  });
});

test('settings close more, and nothing opens the API server', { timeout: 60_000 }, async () => {
  await using origin = await startOrigin((_request, response) => void response.end('weights'));
  using desk = new Desk();
  const at = (args: string[], apiServer: string[] = []) => desk.run(`http://${origin.host}/m`, { args, apiServer });
  const words = [
    await at([`--allow=${origin.host}`], [origin.host]),
    await at(['--allow=127.0.0.1:1', '--deny=127.0.0.0/8']),
    await at([`--allow=127.0.0.1:${origin.port + 1}`]),
  ];
  for (const word of words) ok(word.result === 'verdict' && word.verdict === 'EgressDenied', JSON.stringify(word));
  equal(origin.connections(), 0);
  equal((await at([`--allow=${origin.host}`])).result, 'done');
});
