import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { systemClock } from '../../base/index.ts';
import { ConfigMap } from '../../objects/index.ts';
import { ApiError, Client, loadKubeconfig, type Requested } from './index.ts';
import {
  answer,
  chunk,
  eventually,
  kubeconfigFor,
  MovableClock,
  type Reply,
  reset,
  ScriptedPeer,
  silence,
  streamHead,
} from '../../../tests/kit/scripted-peer.ts';

const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'shop' } };
const ref = { namespace: 'shop', name: 'settings' };
const ok = answer(200, settings);

/** A client and its peer, both gone at the end of the scope. */
async function talk(script: Reply[], options: Partial<ConstructorParameters<typeof Client>[0]> = {}) {
  const peer = await ScriptedPeer.start(script);
  const cluster = loadKubeconfig(kubeconfigFor(`http://127.0.0.1:${peer.port}`));
  const client = new Client({ cluster, clock: systemClock, ...options });
  const close = async () => {
    await client.close();
    await peer[Symbol.asyncDispose]();
  };
  return { client, peer, [Symbol.asyncDispose]: close };
}

const failure = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => assert.fail('it succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  return error;
};

test('an answer that breaks off in the middle is an error, for reads and for writes, and is not asked again', async () => {
  const half: Reply = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"kind":', () => socket.resetAndDestroy());
  };
  await using it = await talk([half]);
  for (const promise of [it.client.get(ConfigMap, ref), it.client.update(ConfigMap, settings)]) {
    const error = await failure(promise);
    assert.equal(error.status, 0);
    assert.equal(error.reason, 'Network');
    assert.ok(error.cause instanceof Error);
    assert.match(error.message, /^cannot (get|update) ConfigMap shop\/settings: /);
  }
  assert.equal(it.peer.heard.length, 2);
});

test('a half-open connection ends at the deadline and is not used again', async () => {
  await using it = await talk([silence, ok]);
  const error = await failure(it.client.get(ConfigMap, ref, { deadline: 50 }));
  assert.equal(error.reason, 'Deadline');
  assert.equal(error.message, 'cannot get ConfigMap shop/settings: no answer within 50 ms');
  await it.client.get(ConfigMap, ref);
  assert.equal(it.peer.connections.length, 2);
});

test('the deadline is for the whole answer: one that drips does not extend it', async () => {
  const drip: Reply = (socket) => {
    socket.write(streamHead);
    const timer = setInterval(() => socket.write(chunk('1')), 10);
    socket.on('close', () => clearInterval(timer));
  };
  await using it = await talk([drip]);
  const error = await failure(it.client.get(ConfigMap, ref, { deadline: 100 }));
  assert.equal(error.reason, 'Deadline');
});

test('an abort ends a request that waits for its answer, and one that has not begun', async () => {
  await using it = await talk([silence]);
  const control = new AbortController();
  const waiting = failure(it.client.get(ConfigMap, ref, { signal: control.signal }));
  await eventually(() => it.peer.heard.length === 1);
  control.abort(new Error('enough'));
  assert.equal((await waiting).reason, 'Aborted');
  assert.equal(((await waiting).cause as Error).message, 'enough');
  assert.equal((await failure(it.client.get(ConfigMap, ref, { signal: control.signal }))).reason, 'Aborted');
  assert.equal(it.peer.heard.length, 1);
  await eventually(() => it.peer.sockets.size === 0);
});

test('a text whose characters are split over pieces arrives whole', async () => {
  const body = Buffer.from(JSON.stringify({ ...settings, data: { greeting: 'grüße, 世界 🚲' } }));
  const split: Reply = (socket) => {
    socket.write(streamHead);
    for (const byte of body) socket.write(chunk(Buffer.of(byte)));
    socket.write('0\r\n\r\n');
  };
  await using it = await talk([split]);
  assert.equal((await it.client.get(ConfigMap, ref)).data?.['greeting'], 'grüße, 世界 🚲');
});

test('an answer that is not JSON is an error that says so', async () => {
  await using it = await talk([answer(200, '<html>')]);
  const error = await failure(it.client.get(ConfigMap, ref));
  assert.equal(error.reason, 'BadAnswer');
  assert.match(error.message, /the answer is not JSON/);
});

test('keep-alive race: a read is asked again on a new connection, a write is never sent twice', async () => {
  await using it = await talk([ok, reset, ok, reset, ok]);
  await it.client.get(ConfigMap, ref);
  await it.client.get(ConfigMap, ref);
  assert.equal(it.peer.heard.length, 3);
  const error = await failure(it.client.apply(ConfigMap, settings, { manager: 'm' }));
  assert.equal(error.reason, 'Network');
  assert.equal(it.peer.heard.length, 4);
});

test('a read is asked again once, not for ever', async () => {
  await using it = await talk([reset]);
  assert.equal((await failure(it.client.get(ConfigMap, ref))).reason, 'Network');
  assert.equal(it.peer.heard.length, 2);
});

test('a write that waited on a connection which ended before it began is sent, once', async () => {
  const answerAndEnd: Reply = (socket, heard) => {
    ok(socket, heard);
    socket.end();
  };
  await using it = await talk([answerAndEnd, ok]);
  await it.client.apply(ConfigMap, settings, { manager: 'm' });
  await it.client.apply(ConfigMap, settings, { manager: 'm' });
  assert.equal(it.peer.heard.length, 2);
});

test('a write that waited on a connection which was reset before it began is sent, once', async () => {
  await using it = await talk([ok]);
  await it.client.apply(ConfigMap, settings, { manager: 'm' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const socket of it.peer.sockets) socket.resetAndDestroy();
  await it.client.apply(ConfigMap, settings, { manager: 'm' });
  assert.deepEqual([it.peer.heard.length, it.peer.connections.length], [2, 2]);
});

test('a server that is not there is named by its error', async () => {
  const it = await talk([ok]);
  await it.peer[Symbol.asyncDispose]();
  const error = await failure(it.client.get(ConfigMap, ref));
  assert.match(error.message, /^cannot get ConfigMap shop\/settings: connect ECONNREFUSED 127\.0\.0\.1:\d+$/);
  await it.client.close();
});

test('401 twice is an error', async () => {
  await using it = await talk([answer(401, { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' })]);
  const error = await failure(it.client.get(ConfigMap, ref));
  assert.deepEqual([error.status, error.reason, it.peer.heard.length], [401, 'Unauthorized', 2]);
});

test('pitfall 23: Retry-After is handed on, as seconds, as a date and from the body', async () => {
  const clock = new MovableClock();
  const date = new Date(Math.ceil(clock.now() / 1000) * 1000 + 20_000);
  const inBody = { kind: 'Status', reason: 'TooManyRequests', message: 'slow down', details: { retryAfterSeconds: 3 } };
  await using it = await talk(
    [
      answer(429, inBody, { 'retry-after': '7' }),
      answer(503, 'overloaded', { 'retry-after': date.toUTCString() }),
      answer(429, inBody),
      answer(429, 'no idea', { 'retry-after': 'soon' }),
    ],
    { clock },
  );
  const errors = [];
  for (let asked = 0; asked < 4; asked += 1) errors.push(await failure(it.client.get(ConfigMap, ref)));
  const waits = errors.map(({ retryAfter }) => retryAfter);
  assert.equal(waits[0], 7000);
  assert.ok(waits[1] !== undefined && waits[1] > 18_000 && waits[1] <= 21_000, String(waits[1]));
  assert.deepEqual(waits.slice(2), [3000, undefined]);
  assert.equal(errors[1]?.message, 'cannot get ConfigMap shop/settings: 503 ServiceUnavailable: overloaded');
  assert.equal(it.peer.heard.length, 4, 'the client itself does not try again');
});

test('reasons, causes and the one-line message come from the Status of the answer, and never the token', async () => {
  const status = {
    kind: 'Status',
    reason: 'Invalid',
    message: 'it is\ninvalid (you sent Bearer sesame)',
    details: { causes: [{ field: 'spec.replicas', reason: 'FieldValueInvalid', message: 'sesame is not a number' }] },
  };
  await using it = await talk([answer(422, status)]);
  const error = await failure(it.client.update(ConfigMap, settings));
  assert.equal(
    error.message,
    'cannot update ConfigMap shop/settings: 422 Invalid: it is invalid (you sent Bearer [secret])',
  );
  assert.deepEqual(error.causes, [
    { field: 'spec.replicas', reason: 'FieldValueInvalid', message: '[secret] is not a number' },
  ]);
  assert.equal(error.verb, 'update');
  assert.equal(error.path, '/api/v1/namespaces/shop/configmaps/settings');
});

test('the fence is asked when the write goes onto the socket, not when it was asked for; reads pass', async () => {
  let fenced: Error | undefined;
  const replies: (() => void)[] = [];
  const later: Reply = (socket, heard) => void replies.push(() => ok(socket, heard));
  await using it = await talk([later], { fence: () => fenced });
  const writes = Array.from({ length: 65 }, () => it.client.update(ConfigMap, settings, { deadline: 5000 }));
  const outcomes = Promise.allSettled(writes);
  await eventually(() => it.peer.heard.length === 64);
  fenced = new Error('the lease is lost');
  for (const reply of replies.splice(0)) reply();
  const refused = (await outcomes).filter((outcome) => outcome.status === 'rejected');
  assert.equal(refused.length, 1);
  assert.equal(refused[0]?.reason, fenced, 'the error of the fence itself comes out');
  assert.equal(it.peer.heard.length, 64, 'no byte of the last write was sent');
  const read = it.client.get(ConfigMap, ref);
  await eventually(() => replies.length === 1);
  replies[0]?.();
  assert.equal((await read).metadata.name, 'settings');
});

test('the fence stops a write while the connection is still being made, and the connection stays good', async () => {
  let fenced: Error | undefined;
  await using it = await talk([ok], { fence: () => fenced });
  const write = it.client.create(ConfigMap, settings, { manager: 'm' });
  fenced = new Error('too late');
  await assert.rejects(write, fenced);
  fenced = undefined;
  await it.client.create(ConfigMap, settings, { manager: 'm' });
  assert.deepEqual([it.peer.heard.length, it.peer.connections.length], [1, 1]);
});

test('a review changes nothing and passes the fence; any other POST does not', async () => {
  const fenced = new Error('not the leader');
  await using it = await talk([ok], { fence: () => fenced });
  await it.client.raw('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { body: '{}' });
  await assert.rejects(it.client.raw('POST', '/api/v1/namespaces', { body: '{}' }), fenced);
  assert.equal(it.peer.heard.length, 1);
});

test('a request given up while it waited for a connection is never sent', async () => {
  const replies: (() => void)[] = [];
  await using it = await talk([(socket, heard) => void replies.push(() => ok(socket, heard))]);
  const busy = Array.from({ length: 64 }, () => it.client.get(ConfigMap, ref));
  await eventually(() => it.peer.heard.length === 64);
  const error = await failure(it.client.update(ConfigMap, settings, { deadline: 50 }));
  assert.equal(error.reason, 'Deadline');
  for (const reply of replies.splice(0)) reply();
  await Promise.all(busy);
  const next = it.client.get(ConfigMap, ref);
  await eventually(() => replies.length === 1);
  replies[0]?.();
  await next;
  assert.ok(it.peer.heard.every(({ method }) => method === 'GET'));
});

test('every request is reported once, with what came of it', async () => {
  const seen: Requested[] = [];
  await using it = await talk([ok, answer(404, '{}'), reset], { onRequest: (requested) => void seen.push(requested) });
  await it.client.get(ConfigMap, ref);
  await failure(it.client.update(ConfigMap, settings));
  await failure(it.client.apply(ConfigMap, settings, { manager: 'm' }));
  assert.deepEqual(
    seen.map(({ verb, resource, status }) => [verb, resource, status]),
    [
      ['get', 'configmaps', 200],
      ['update', 'configmaps', 404],
      ['apply', 'configmaps', 0],
    ],
  );
  assert.ok(seen.every(({ ms }) => ms >= 0));
});

test('all verbs share a kept-alive connection, also a DELETE with its preconditions', async () => {
  await using it = await talk([ok]);
  await it.client.create(ConfigMap, settings, { manager: 'm' });
  await it.client.delete(ConfigMap, ref, { uid: 'u', resourceVersion: '1', propagation: 'Foreground' });
  await it.client.patch(ConfigMap, ref, [], { type: 'json' });
  await it.client.list(ConfigMap, 'shop', { labelSelector: 'a in (b,c)', limit: '1' });
  await it.client.delete(ConfigMap, ref);
  await it.client.delete(ConfigMap, ref);
  assert.ok(it.peer.connections.length <= 2, 'a connection rests for a moment after its answer, so two take turns');
  assert.deepEqual(JSON.parse(it.peer.heard[1]?.body ?? ''), {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid: 'u', resourceVersion: '1' },
    propagationPolicy: 'Foreground',
  });
  assert.equal(it.peer.heard[3]?.path, '/api/v1/namespaces/shop/configmaps?labelSelector=a%20in%20(b%2Cc)&limit=1');
});

test('a finished request leaves neither a timer nor a listener behind, however it ended', async () => {
  let timers = 0;
  const after: typeof systemClock.after = (ms, run) => {
    timers += 1;
    const cancel = systemClock.after(ms, run);
    let cancelled = false;
    return () => {
      if (!cancelled) timers -= 1;
      cancelled = true;
      cancel();
    };
  };
  const { signal } = new AbortController();
  await using it = await talk([ok, answer(404, '{}'), reset, silence], { clock: { ...systemClock, after } });
  await it.client.update(ConfigMap, settings, { signal });
  await failure(it.client.update(ConfigMap, settings, { signal }));
  await failure(it.client.update(ConfigMap, settings, { signal }));
  await failure(it.client.update(ConfigMap, settings, { signal, deadline: 20 }));
  assert.deepEqual([timers, getEventListeners(signal, 'abort').length], [0, 0]);
});

test('names that could leave their place in the path cannot', async () => {
  await using it = await talk([ok]);
  await it.client.get(ConfigMap, { namespace: 'shop', name: 'a/../../secrets?x=y' });
  assert.equal(it.peer.heard[0]?.path, '/api/v1/namespaces/shop/configmaps/a%2F..%2F..%2Fsecrets%3Fx%3Dy');
  for (const name of ['', '.', '..'])
    assert.throws(() => it.client.get(ConfigMap, { namespace: 'shop', name }), TypeError);
  assert.throws(() => it.client.get(ConfigMap, { name: 'a' }), /ConfigMap a: the namespace is missing/);
});

test('a server below a path is asked below that path', async () => {
  await using peer = await ScriptedPeer.start([ok]);
  const cluster = loadKubeconfig(kubeconfigFor(`http://127.0.0.1:${peer.port}/clusters/one/`));
  const client = new Client({ cluster, clock: systemClock });
  await client.get(ConfigMap, ref);
  assert.equal(peer.heard[0]?.path, '/clusters/one/api/v1/namespaces/shop/configmaps/settings');
  await client.close();
});

test('close ends what is under way, closes all connections, and refuses what comes later', async () => {
  const it = await talk([ok, silence]);
  await it.client.get(ConfigMap, ref);
  const waiting = failure(it.client.get(ConfigMap, ref));
  await eventually(() => it.peer.heard.length === 2);
  await it.client.close();
  assert.equal((await waiting).status, 0);
  assert.equal((await failure(it.client.get(ConfigMap, ref))).reason, 'Closed');
  await eventually(() => it.peer.sockets.size === 0);
  await it.peer[Symbol.asyncDispose]();
});

const noProc = existsSync('/proc/self/fd') ? false : 'descriptors are counted in /proc';

test('pitfall 4: sockets do not leak over 2,000 requests with resets', { skip: noProc }, async () => {
  let count = 0;
  const sometimes: Reply = (socket, heard) => ((count += 1) % 3 === 0 ? reset : ok)(socket, heard);
  await using it = await talk([sometimes]);
  const round = async (requests: number) => {
    for (let asked = 0; asked < requests; asked += 20)
      await Promise.allSettled(Array.from({ length: 20 }, () => it.client.update(ConfigMap, settings)));
  };
  await round(100);
  const before = readdirSync('/proc/self/fd').length;
  await round(2000);
  const after = readdirSync('/proc/self/fd').length;
  assert.ok(after <= before + 40, `${before} descriptors before, ${after} after`);
  await it.client.close();
  await eventually(() => it.peer.sockets.size === 0);
});
