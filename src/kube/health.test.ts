import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { type Checks, type Health, startHealth } from './health.ts';

async function served(checks: () => Checks, metrics = () => '') {
  const health = await startHealth({ port: 0, host: '127.0.0.1', checks, metrics });
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${health.port}${path}`, { method });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  return { get, health, [Symbol.asyncDispose]: () => health.close() };
}
const fine: Checks = { live: [{ name: 'loop', ok: true }], ready: [] };

test('each probe lists its checks with their reasons and answers 503 when one fails', async () => {
  const checks: Checks = {
    live: [{ name: 'loop', ok: true }],
    ready: [
      { name: 'watch of pods', ok: true, reason: 'heard 3 s ago' },
      { name: 'controller Model', ok: false, reason: 'may not list deployments:\n  apply the roles' },
    ],
  };
  await using it = await served(() => checks);
  const [live, ready] = [await it.get('/livez'), await it.get('/readyz?verbose')];
  assert.deepEqual([live.status, live.text], [200, '[+]loop ok\nlivez check passed\n']);
  assert.deepEqual(
    [ready.status, ready.text],
    [
      503,
      '[+]watch of pods ok: heard 3 s ago\n' +
        '[-]controller Model failed: may not list deployments: apply the roles\nreadyz check failed\n',
    ],
  );
  checks.ready = [];
  assert.equal((await it.get('/readyz')).status, 200, 'checks are asked anew each time');
});

test('metrics come as they are, with the type that Prometheus expects', async () => {
  await using it = await served(
    () => fine,
    () => 'up 1\n',
  );
  assert.deepEqual(await it.get('/metrics'), {
    status: 200,
    type: 'text/plain; version=0.0.4; charset=utf-8',
    text: 'up 1\n',
  });
});

test('a check that throws fails its page and nothing else', async () => {
  await using it = await served(
    () => {
      throw new Error('broken check');
    },
    () => 'up 1\n',
  );
  const { status, text } = await it.get('/livez');
  assert.deepEqual([status, text], [500, 'The page could not be made: Error: broken check\n']);
  assert.equal((await it.get('/metrics')).status, 200);
});

test('other paths and methods are refused', async () => {
  await using it = await served(() => fine);
  assert.deepEqual(
    [(await it.get('/')).status, (await it.get('/toString')).status, (await it.get('/livez', 'POST')).status],
    [404, 404, 405],
  );
  assert.deepEqual(await it.get('/livez', 'HEAD'), { status: 200, type: 'text/plain; charset=utf-8', text: '' });
});

test('close also ends connections that only wait', async () => {
  const it = await served(() => fine);
  const socket = connect(it.health.port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  await it.health.close();
  await closed;
});

test('a port that is taken is named', async () => {
  await using it = await served(() => fine);
  const again: Promise<Health> = startHealth({
    port: it.health.port,
    host: '127.0.0.1',
    checks: () => fine,
    metrics: () => '',
  });
  await assert.rejects(again, {
    message: `cannot serve probes on 127.0.0.1:${it.health.port}: another process listens there`,
  });
});
