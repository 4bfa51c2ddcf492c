import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../base/index.ts';
import { ConfigMap } from '../../objects/index.ts';
import { ApiError, Client, loadKubeconfig, type Requested } from './index.ts';
import {
  answer,
  chunk,
  eventually,
  kubeconfigFor,
  lastChunk,
  type Reply,
  ScriptedPeer,
  silence,
  streamHead,
} from '../../../tests/kit/scripted-peer.ts';

/** One watch on a scripted peer: what it read, and how it ended. */
async function watched(
  script: Reply[],
  { onLine, signal = new AbortController().signal }: { onLine?: () => void; signal?: AbortSignal } = {},
) {
  await using peer = await ScriptedPeer.start(script);
  const requested: Requested[] = [];
  const cluster = loadKubeconfig(kubeconfigFor(`http://127.0.0.1:${peer.port}`));
  const client = new Client({ cluster, clock: systemClock, onRequest: (one) => void requested.push(one) });
  const lines: string[] = [];
  const seen = { opened: 0, data: 0 };
  const handler = {
    onOpen: () => void (seen.opened += 1),
    onData: () => void (seen.data += 1),
    onLine: (text: string) => {
      lines.push(text);
      onLine?.();
    },
  };
  const error: unknown = await client.watch(ConfigMap, 'shop', { resourceVersion: '7' }, handler, { signal }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const closed = eventually(() => peer.sockets.size === 0);
  if (error && !(error instanceof ApiError && error.status > 0)) await closed; // a broken watch leaves no connection
  await client.close();
  await closed;
  return { error, lines, seen, requested, heard: peer.heard };
}

const pieces =
  (...all: (string | Buffer)[]): Reply =>
  async (socket) => {
    socket.write(streamHead);
    for (const piece of all) {
      socket.write(chunk(piece));
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.write(lastChunk);
  };

test('a watch that the server ends has given every line, in order', async () => {
  const { error, lines, seen, heard, requested } = await watched([pieces('{"a":1}\n{"b"', ':2}\n\n', '{"c":3}\n')]);
  assert.equal(error, undefined);
  assert.deepEqual(lines, ['{"a":1}', '{"b":2}', '{"c":3}']);
  assert.equal(seen.opened, 1);
  assert.ok(seen.data >= 1);
  assert.equal(heard[0]?.path, '/api/v1/namespaces/shop/configmaps?resourceVersion=7&watch=true');
  assert.deepEqual(
    requested.map(({ verb, status }) => [verb, status]),
    [['watch', 200]],
  );
});

test('lines survive any cut of their bytes, also inside a character', async () => {
  const property = fc.asyncProperty(
    fc.array(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\n]/.test(text)),
      { maxLength: 5 },
    ),
    fc.array(fc.nat(), { maxLength: 8 }),
    async (texts, cuts) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''));
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
      const parts = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
      const { error, lines } = await watched([pieces(...parts.filter((part) => part.length > 0))]);
      assert.equal(error, undefined);
      assert.deepEqual(lines, texts);
    },
  );
  await fc.assert(property, { numRuns: 30 });
});

test('a reset, a cut line and an end without its last chunk are each an error', async () => {
  const open = streamHead + String(chunk('{"a":1}\n{"b'));
  const faults: Reply[] = [
    (socket) => void socket.write(open, () => setTimeout(() => socket.resetAndDestroy(), 5)),
    (socket) => void socket.end(open),
    (socket) => void socket.end(open + lastChunk),
  ];
  for (const fault of faults) {
    const { error, lines } = await watched([fault]);
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.reason, lines.length], [0, 'Network', 1]);
    assert.match(error.message, /^cannot watch configmaps in shop: /);
  }
});

test('a status that is not 200 is an ApiError with its reason', async () => {
  const gone = { kind: 'Status', reason: 'Expired', message: 'too old resource version' };
  const { error, seen, heard } = await watched([answer(410, gone, { 'retry-after': '2' })]);
  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.reason, error.retryAfter, seen.opened], [410, 'Expired', 2000, 0]);
  assert.equal(heard.length, 1);
});

test('401: the watch is asked for once more with a fresh credential', async () => {
  const { error, lines, heard } = await watched([answer(401, 'no'), pieces('{}\n')]);
  assert.equal(error, undefined);
  assert.deepEqual([lines.length, heard.length], [1, 2]);
});

test('a line of more than 16 MiB is an error and ends the connection', async () => {
  const endless: Reply = (socket) => {
    socket.write(streamHead);
    const block = chunk(Buffer.alloc(1024 * 1024, 'x'));
    const more = (): void => {
      if (!socket.destroyed) socket.write(block, more);
    };
    more();
  };
  const { error } = await watched([endless]);
  assert.ok(error instanceof ApiError);
  assert.equal(error.reason, 'BadAnswer');
});

test('an error of the reader ends the watch and comes out as it is', async () => {
  const mine = new Error('cannot read this');
  const onLine = () => {
    throw mine;
  };
  const { error, lines } = await watched([pieces('1\n2\n', '3\n')], { onLine });
  assert.equal(error, mine);
  assert.deepEqual(lines, ['1']);
});

test('an abort ends an open watch, also from inside its reader, and no line comes after it', async () => {
  const control = new AbortController();
  const onLine = () => control.abort();
  const { error, lines } = await watched([pieces('1\n2\n', '3\n')], { onLine, signal: control.signal });
  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.reason, lines], ['Aborted', ['1']]);
});

test('pitfall 24: a hundred silent watches neither wait for one another nor hold up requests', async () => {
  await using peer = await ScriptedPeer.start([
    (socket, heard) => {
      if (heard.path.includes('watch=true')) socket.write(streamHead);
      else answer(200, { kind: 'ConfigMap' })(socket, heard);
    },
  ]);
  const cluster = loadKubeconfig(kubeconfigFor(`http://127.0.0.1:${peer.port}`));
  const client = new Client({ cluster, clock: systemClock });
  const control = new AbortController();
  let opened = 0;
  const handler = { onOpen: () => void (opened += 1), onLine: () => {} };
  const watches = Array.from({ length: 100 }, () =>
    client.watch(ConfigMap, undefined, {}, handler, { signal: control.signal }).catch((error: unknown) => error),
  );
  await eventually(() => opened === 100);
  await client.get(ConfigMap, { namespace: 'shop', name: 'settings' }, { deadline: 10_000 });
  control.abort();
  assert.ok((await Promise.all(watches)).every((error) => error instanceof ApiError && error.reason === 'Aborted'));
  await client.close();
  await eventually(() => peer.sockets.size === 0);
});

test('close ends open watches', async () => {
  await using peer = await ScriptedPeer.start([(socket) => void socket.write(streamHead)]);
  const client = new Client({
    cluster: loadKubeconfig(kubeconfigFor(`http://127.0.0.1:${peer.port}`)),
    clock: systemClock,
  });
  const { signal } = new AbortController();
  let open = false;
  const watch = client.watch(ConfigMap, 'shop', {}, { onOpen: () => void (open = true), onLine: () => {} }, { signal });
  const ended = assert.rejects(watch, ApiError);
  await eventually(() => open);
  await client.close();
  await ended;
});

/** A clock on which half a minute takes half a second. */
const hurried = { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(ms / 60, run) };

test('a watch whose opening is never answered ends by itself', async () => {
  await using peer = await ScriptedPeer.start([silence]);
  const cluster = loadKubeconfig(kubeconfigFor(`http://127.0.0.1:${peer.port}`));
  const client = new Client({ cluster, clock: hurried });
  const { signal } = new AbortController();
  await assert.rejects(client.watch(ConfigMap, 'shop', {}, { onLine: () => {} }, { signal }), { reason: 'Deadline' });
  await client.close();
});

test('an open watch may be silent for as long as it likes', async () => {
  const quiet: Reply = (socket) => {
    socket.write(streamHead);
    setTimeout(() => socket.write(Buffer.concat([chunk('{}\n'), Buffer.from(lastChunk)])), 1000);
  };
  await using peer = await ScriptedPeer.start([quiet]);
  const cluster = loadKubeconfig(kubeconfigFor(`http://127.0.0.1:${peer.port}`));
  const client = new Client({ cluster, clock: hurried });
  const lines: string[] = [];
  const handler = { onLine: (text: string) => void lines.push(text) };
  await client.watch(ConfigMap, 'shop', {}, handler, { signal: new AbortController().signal });
  assert.deepEqual(lines, ['{}']);
  await client.close();
});
