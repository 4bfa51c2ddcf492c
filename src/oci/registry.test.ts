// The rules of the client against a peer that does what the test says, byte by byte: where credentials go, what is asked
// again, and where it ends. What a registry means by its answers is tested on a real one.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { all, hasty, type Later, sent, talk } from '../../tests/kit/registry-talk.ts';
import { answer, type Reply, reset, silence } from '../../tests/kit/scripted-peer.ts';
import { systemClock } from '../base/index.ts';
import { blobBytes } from './blobs.ts';
import { digestOf } from './digest.ts';
import type { RegistryError } from './errors.ts';
import { mediaType } from './manifest.ts';
import { referenceOf } from './reference.ts';
import { Registry, type RegistryOptions } from './registry.ts';
import { manifestOf, resolve as resolved } from './resolve.ts';

const config = { mediaType: mediaType.config, digest: digestOf('{}'), size: 2 };
const manifest = JSON.stringify({ schemaVersion: 2, mediaType: mediaType.manifest, config, layers: [] });
const served = answer(200, manifest, { 'content-type': mediaType.manifest });
const user = { username: 'ann', password: 'sesame' };
const basic = `Basic ${Buffer.from('ann:sesame').toString('base64')}`;
const closed = answer(401, '{}', { 'www-authenticate': 'Basic realm="x"' });
/** Sends whoever asks to the second peer. */
const elsewhere =
  (status: number, peers: Later): Reply =>
  (socket, heard) =>
    answer(status, '', { location: `http://127.0.0.1:${peers[1]?.port}/blob` })(socket, heard);

describe('redirects', () => {
  test('credentials stay with the registry', async () => {
    await using it = await talk((peers) => [[closed, elsewhere(307, peers)], [answer(200, 'abc')]], {
      credentials: () => user,
    });
    const content = { digest: digestOf('abc'), size: 3 };
    equal(await all(blobBytes(it.registry, it.name(), content)), 'abc');
    equal(sent(it.peers[0]?.heard[1], 'authorization'), basic);
    equal(sent(it.peers[1]?.heard[0], 'authorization'), undefined);
  });

  test('a host to which we were sent cannot ask who we are', async () => {
    const asks =
      (peers: Later): Reply =>
      (socket, heard) => {
        const realm = `http://127.0.0.1:${peers[1]?.port}/steal`;
        answer(401, '', { 'www-authenticate': `Bearer realm="${realm}"` })(socket, heard);
      };
    await using it = await talk((peers) => [[elsewhere(307, peers)], [asks(peers)]], { credentials: () => user });
    await rejects(manifestOf(it.registry, it.name()), { reason: 'Unauthorized', status: 401 });
    equal(it.peers[1]?.heard.length, 1);
    equal(it.peers[0]?.heard.length, 1);
  });

  test('nothing goes to a host without TLS that is not named as one', async () => {
    await using it = await talk((peers) => [[elsewhere(302, peers)], [served]]);
    const only = { clock: hasty, random: () => 0, plainHttp: [it.name().host] };
    await using registry = new Registry(only);
    await rejects(manifestOf(registry, it.name()), { reason: 'Redirect', message: /without TLS/ });
    equal(it.peers[1]?.heard.length, 0);
  });

  test('odd places are refused, and so are circles', async () => {
    for (const [location, why] of [
      ['file:///etc/passwd', /of the kind file:/],
      ['http://ann:sesame@127.0.0.1:1/', /a password in it/],
      ['http://', /to nowhere/],
      ['/v2/a/b/manifests/1', /more than 5 redirects/],
    ] as const) {
      await using it = await talk([[answer(301, '', { location })]]);
      await rejects(manifestOf(it.registry, it.name()), (error: RegistryError) => {
        match(error.message, why);
        return error.reason === 'Redirect' && !error.message.includes('sesame');
      });
      ok((it.peers[0]?.heard.length ?? 0) <= 6);
    }
  });
});

describe('credentials', () => {
  const asksToken =
    (peers: Later): Reply =>
    (socket, heard) =>
      answer(401, '{}', {
        'www-authenticate': `Bearer realm="http://127.0.0.1:${peers[1]?.port}/token?x=1",service="reg"`,
      })(socket, heard);
  const needsToken =
    (peers: Later, token: () => string): Reply =>
    (socket, heard) =>
      (sent(heard, 'authorization') === `Bearer ${token()}` ? served : asksToken(peers))(socket, heard);
  const tokens = (...values: string[]): Reply[] => values.map((token) => answer(200, { token, expires_in: 300 }));

  test('a token is asked for once for each set of rights, with name and password', async () => {
    await using it = await talk((peers) => [[needsToken(peers, () => 't1')], tokens('t1')], {
      credentials: () => user,
    });
    await manifestOf(it.registry, it.name());
    await manifestOf(it.registry, it.name());
    equal(it.peers[0]?.heard.length, 3);
    deepEqual(
      it.peers[1]?.heard.map((heard) => [heard.method, heard.path, sent(heard, 'authorization')]),
      [['GET', '/token?x=1&service=reg&scope=repository%3Aa%2Fb%3Apull', basic]],
    );
    await manifestOf(it.registry, it.name('c')).catch(() => undefined);
    equal(it.peers[1]?.heard.length, 2);
  });

  test('a token that is refused, or at its end, is asked for anew', async () => {
    let good = 't1';
    let ahead = 0;
    const clock = { ...hasty, monotonic: () => systemClock.monotonic() + ahead };
    await using it = await talk((peers) => [[needsToken(peers, () => good)], tokens('t1', 't2', 't3')], {
      clock,
    });
    await manifestOf(it.registry, it.name());
    good = 't2';
    await manifestOf(it.registry, it.name());
    equal(it.peers[0]?.heard.length, 4);
    good = 't3';
    ahead = 291_000;
    await manifestOf(it.registry, it.name());
    deepEqual([it.peers[0]?.heard.length, it.peers[1]?.heard.length], [5, 3]);
    equal(sent(it.peers[1]?.heard[0], 'authorization'), undefined);
  });

  test('a refresh token is exchanged by a form, not in the URL', async () => {
    const credentials = () => ({ identityToken: 'refresh' });
    await using it = await talk((peers) => [[needsToken(peers, () => 't')], [answer(200, { access_token: 't' })]], {
      credentials,
    });
    await manifestOf(it.registry, it.name());
    const [asked] = it.peers[1]?.heard ?? [];
    deepEqual([asked?.method, asked?.path], ['POST', '/token?x=1']);
    match(asked?.body ?? '', /grant_type=refresh_token&refresh_token=refresh/);
  });

  test('a wrong password is said at once, without the password', async () => {
    await using it = await talk([[closed]], { credentials: () => user });
    await rejects(manifestOf(it.registry, it.name()), (error: RegistryError) => {
      ok(!`${error.message} ${JSON.stringify(error)}`.includes('sesame'));
      return error.reason === 'Unauthorized' && error.status === 401;
    });
    equal(it.peers[0]?.heard.length, 2);
  });

  test('a token server without TLS gets no password unless it is named as one', async () => {
    await using it = await talk((peers) => [[asksToken(peers)], tokens('t')]);
    await using registry = new Registry({
      clock: hasty,
      random: () => 0,
      plainHttp: [it.name().host],
      credentials: () => user,
    });
    await rejects(manifestOf(registry, it.name()), { reason: 'Redirect', message: /without TLS/ });
    equal(it.peers[1]?.heard.length, 0);
  });

  test('a token server that gives no token, or too much, is named', async () => {
    for (const [reply, why] of [
      [answer(200, '<html>'), /not JSON/],
      [answer(200, {}), /no token/],
      [answer(200, { token: 'a\nb' }), /no token/],
      [answer(200, 'x'.repeat(1_100_000)), /a token of \d+ bytes/],
      [answer(403, { errors: [{ code: 'DENIED', message: 'not you' }] }), /refuses: 403 DENIED: not you/],
    ] as const) {
      await using it = await talk((peers) => [[asksToken(peers)], [reply]]);
      await rejects(manifestOf(it.registry, it.name()), why);
    }
  });
});

describe('tries', () => {
  test('what may pass is asked again, within bounds', async () => {
    await using it = await talk([[reset, answer(500, ''), answer(429, '', { 'retry-after': '0' }), served]]);
    equal((await manifestOf(it.registry, it.name())).descriptor.digest, digestOf(manifest));
    equal(it.peers[0]?.heard.length, 4);
    await using down = await talk([[answer(503, '')]]);
    await rejects(manifestOf(down.registry, down.name()), { reason: 'Server', status: 503 });
    equal(down.peers[0]?.heard.length, 6);
  });

  test('what will not pass is asked once', async () => {
    const refusals = [
      [404, 'NotFound'],
      [403, 'Unauthorized'],
      [400, 'Refused'],
    ] as const;
    for (const [status, reason] of refusals) {
      await using it = await talk([[answer(status, { errors: [{ code: 'X_Y', message: 'so\nit is' }] })]]);
      await rejects(manifestOf(it.registry, it.name()), (error: RegistryError) => {
        match(error.message, new RegExp(`/a/b: GET manifests/1: ${status} X_Y: so it is$`));
        return error.reason === reason && error.codes[0] === 'X_Y';
      });
      equal(it.peers[0]?.heard.length, 1);
    }
  });

  test('a long wait that a registry asks for is left to the caller', async () => {
    await using it = await talk([[answer(429, '', { 'retry-after': '3600' })]]);
    await rejects(manifestOf(it.registry, it.name()), { reason: 'Throttled', retryAfter: 3_600_000 });
    equal(it.peers[0]?.heard.length, 1);
  });

  test('an address that must not be reached comes out as it is, and is not tried again', async () => {
    const denied = new Error('denied');
    let tries = 0;
    const connect: RegistryOptions['connect'] = (_to, callback) => {
      tries += 1;
      callback(denied, null);
    };
    await using it = await talk([[served]], { connect, hopeless: (error) => error === denied });
    await rejects(manifestOf(it.registry, it.name()), denied);
    deepEqual([tries, it.peers[0]?.connections.length], [1, 0]);
  });

  test('a host that speaks no TLS is told apart from one that is not there', async () => {
    const plain = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .end('HTTP/1.1 400 No\r\n\r\n'),
    );
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const reference = referenceOf(`127.0.0.1:${(plain.address() as AddressInfo).port}/a`);
    await using registry = new Registry({ clock: hasty, random: () => 0 });
    await rejects(manifestOf(registry, reference), { reason: 'TLS' });
    plain.close();
    await once(plain, 'close');
    await rejects(manifestOf(registry, reference), { reason: 'Network', message: /ECONNREFUSED/ });
  });

  test('silence ends', async () => {
    await using it = await talk([[silence]], { stallAfter: 20 });
    const ask = { method: 'GET', place: it.name(), to: 'manifests/1', actions: 'pull' } as const;
    await rejects(it.registry.ask(ask), { reason: 'Network', message: /Headers Timeout/ });
    await using stopped = await talk([[silence]]);
    const signal = AbortSignal.timeout(20);
    await rejects(manifestOf(stopped.registry, stopped.name(), { signal }), { reason: 'Aborted' });
    await rejects(manifestOf(stopped.registry, stopped.name(), { signal }), { reason: 'Aborted' });
    await using hanging = await talk([[served]], { connect: () => {} });
    const soon = AbortSignal.timeout(20);
    await rejects(manifestOf(hanging.registry, hanging.name(), { signal: soon }), { reason: 'Aborted' });
  });
});

describe('a manifest', () => {
  test('is resolved by a HEAD where that tells enough, else by a GET', async () => {
    const headers = { 'content-type': mediaType.manifest, 'docker-content-digest': digestOf(manifest) };
    const head: Reply = (socket) => {
      const lines = Object.entries({ ...headers, 'content-length': manifest.length }).map(
        ([key, value]) => `${key}: ${value}\r\n`,
      );
      socket.write(`HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`);
    };
    await using it = await talk([[head]]);
    deepEqual(await resolved(it.registry, it.name()), {
      mediaType: mediaType.manifest,
      digest: digestOf(manifest),
      size: manifest.length,
    });
    equal(it.peers[0]?.heard[0]?.method, 'HEAD');
    const bare: Reply = (socket, heard) =>
      heard.method === 'HEAD' ? socket.write('HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n') : served(socket, heard);
    await using old = await talk([[bare]]);
    equal((await resolved(old.registry, old.name())).digest, digestOf(manifest));
  });

  test('with another digest than it was asked by is refused', async () => {
    await using it = await talk([[served]]);
    const digest = digestOf('another');
    await rejects(manifestOf(it.registry, { ...it.name(), digest }), { reason: 'Digest' });
    const lying = answer(200, manifest, { 'content-type': mediaType.manifest, 'docker-content-digest': digest });
    await using liar = await talk([[lying]]);
    await rejects(manifestOf(liar.registry, liar.name()), { reason: 'Digest' });
  });

  test('that is too large is not read, whether it says so or not', async () => {
    const announced: Reply = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000000\r\n\r\n{');
    const streaming: Reply = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      for (let count = 0; count < 50; count += 1) socket.write(`20000\r\n${'x'.repeat(0x20000)}\r\n`);
    };
    for (const reply of [announced, streaming]) {
      await using it = await talk([[reply]]);
      await rejects(manifestOf(it.registry, it.name()), { reason: 'TooLarge' });
    }
  });
});
