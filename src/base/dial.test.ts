// Connections by name, to a server that counts who reached it.

import { equal, match, rejects } from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { connector, dial, type DialOptions, EgressDenied, egressRules, systemClock } from './index.ts';

let reached = 0;
const server = createServer((socket) => {
  reached++;
  socket.on('error', () => {});
  socket.end('hello');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => server.close());
const { port } = server.address() as { port: number };

const options = (addresses: string[], allow: string[] = []): DialOptions => ({
  rules: egressRules({ allow }),
  resolve: () => Promise.resolve(addresses),
  clock: systemClock,
  within: 2_000,
});
const here = [`127.0.0.1:${port}`];

describe('a name', () => {
  test('is connected to by an address that was judged', async () => {
    const before = reached;
    const socket = await dial({ hostname: 'model.example', port, secure: false }, options(['127.0.0.1'], here));
    equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
    equal(reached, before + 1);
  });

  test('with one forbidden address is not connected to at all', async () => {
    const before = reached;
    const mixed = options(['127.0.0.1', '169.254.169.254'], here);
    await rejects(dial({ hostname: 'model.example', port, secure: false }, mixed), (error: Error) => {
      match(error.message, /model\.example is 169\.254\.169\.254, which must not be reached: link-local/);
      return error instanceof EgressDenied;
    });
    equal(reached, before);
  });

  test('is asked for once: a second answer changes nothing', async () => {
    let asked = 0;
    const rebinding = {
      ...options([], here),
      resolve: () => Promise.resolve(asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2']),
    };
    const socket = await dial({ hostname: 'model.example', port, secure: false }, rebinding);
    equal(socket.remoteAddress, '127.0.0.1');
    equal(asked, 1);
    socket.destroy();
  });

  test('whose first address does not answer is reached by the next', async () => {
    const socket = await dial(
      { hostname: 'model.example', port, secure: false },
      options(['127.0.0.9', '127.0.0.1'], ['127.0.0.0/8']),
    );
    equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
  });

  test('that does not resolve fails with what the name server said', async () => {
    const lost = { ...options([]), resolve: () => Promise.reject(new Error('no such name')) };
    await rejects(dial({ hostname: 'nowhere.example', port, secure: false }, lost), /no such name/);
  });
});

test('a name server that says nothing is given up in time', async () => {
  const deaf = { ...options([]), within: 100, resolve: () => new Promise<string[]>(() => {}) };
  await rejects(
    dial({ hostname: 'model.example', port, secure: false }, deaf),
    /no answer of a name server within 0\.1 s/,
  );
});

test('an address is judged as it is, without asking anybody', async () => {
  const before = reached;
  const resolve = () => Promise.reject(new Error('asked'));
  await rejects(dial({ hostname: '127.0.0.1', port, secure: false }, { ...options([]), resolve }), EgressDenied);
  equal(reached, before);
});

test('a server that says nothing in a handshake is given up in time', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port: deaf } = silent.address() as { port: number };
  const patience = { ...options(['127.0.0.1'], [`127.0.0.1:${deaf}`]), within: 200 };
  await rejects(dial({ hostname: 'model.example', port: deaf, secure: true }, patience), /no connection within 0\.2 s/);
  silent.close();
});

test('a connection that is given up ends at once', async () => {
  const stop = new AbortController();
  stop.abort(new Error('stopped'));
  const to = { hostname: 'model.example', port, secure: false, signal: stop.signal };
  await rejects(dial(to, options(['127.0.0.1'], here)), /stopped/);
});

test('undici gets the same: a socket, or the refusal', async () => {
  const wanted = { hostname: '127.0.0.1', port: String(port), protocol: 'http:' };
  const ask = (allow: string[]) =>
    new Promise<Socket>((resolve, reject) => {
      connector(options([], allow))(wanted, (error, socket) => (error ? reject(error) : resolve(socket)));
    });
  await rejects(ask([]), EgressDenied);
  (await ask(here)).destroy();
});
