// Every fault that the proxy does to watches, on the real API server: what the caller of the watch sees while the
// world goes on without it.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Action, Plan } from '../../controlplane/faults/index.ts';
import { type Caller, eventually, map, maps, pause, type Stage, setStage, type Watching } from './caller.ts';

let stage: Stage;

before(async () => void (stage = await setStage()), { timeout: 120_000 });
afterEach(async () => {
  await stage.clear();
  await stage.direct.call('DELETE', `${maps}?labelSelector=!keep`);
});
after(() => stage.stop());

const initial = '&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
const apply = (name: string, value: string, caller: Caller = stage.direct) =>
  caller.call('PATCH', `${maps}/${name}?fieldManager=world`, map(name, { value }), 'application/apply-patch+yaml');
const brief = async (watching: Watching, count: number) =>
  (await watching.events(count)).map(
    ({ type, object }) => `${type} ${object.metadata.name} ${object.data?.['value'] ?? ''}`,
  );
const version = async () => {
  const ended = await stage.direct.call('GET', maps);
  return 'status' in ended ? ended.body.metadata.resourceVersion : assert.fail(ended.broken);
};

/** A watch from now on, through a proxy with this plan. */
async function watchUnder(plan: Plan) {
  const from = await version();
  const { proxy, caller } = await stage.through({ plan });
  const watching = await caller.watch(`&resourceVersion=${from}`);
  return { proxy, caller, watching, from };
}

const atUpdate = (action: Action): Plan => [{ when: { event: { on: 'update' } }, do: action }];

describe('without a plan', () => {
  test('events go through at once and are in the trace', async () => {
    const { proxy, watching } = await watchUnder([]);
    await apply('a', '1');
    assert.deepEqual(await brief(watching, 1), ['ADDED a 1']);
    const [event] = proxy.trace.events;
    assert.deepEqual([event?.type, event?.kind, event?.namespace, event?.name], ['ADDED', 'ConfigMap', 'default', 'a']);
    assert.equal(event?.resourceVersion, (await watching.events(1))[0]?.object.metadata.resourceVersion);
    assert.notEqual(event?.deliveredAt, undefined);
    assert.equal(proxy.watches(), 1);
  });

  test('a caller who leaves ends the watch at the API server too', async () => {
    const { proxy, watching } = await watchUnder([]);
    watching.leave();
    await eventually(() => proxy.watches() === 0);
    await apply('a', '1');
    await pause(200);
    assert.equal(proxy.trace.events.length, 0);
  });

  test('a watch that the API server cuts is cut for its caller', async () => {
    const { proxy, caller, watching } = await watchUnder([]);
    await stage.plane.restartApiServer();
    assert.notEqual(await watching.ended(), 'clean');
    assert.equal(proxy.watches(), 0);
    await apply('a', '1', caller);
    assert.equal(proxy.trace.writes()[0]?.effective, true);
  });
});

describe('frozen', () => {
  test('events are withheld while the connection stays, and delivered later', async () => {
    const { proxy, watching } = await watchUnder([]);
    await proxy.now({ kind: 'freeze', watches: { resource: 'configmaps' } });
    await apply('a', '1');
    await apply('a', '2');
    await eventually(() => proxy.trace.events.length === 2);
    await pause(100);
    assert.equal(watching.text(), '');
    assert.equal(proxy.trace.events[1]?.deliveredAt, undefined);
    await proxy.now({ kind: 'unfreeze', watches: { resource: 'configmaps' } });
    assert.deepEqual(await brief(watching, 2), ['ADDED a 1', 'MODIFIED a 2']);
    assert.notEqual(proxy.trace.events[1]?.deliveredAt, undefined);
  });

  test('or forgotten', async () => {
    const { proxy, watching } = await watchUnder([]);
    await proxy.now({ kind: 'freeze' });
    await apply('a', '1');
    await eventually(() => proxy.trace.events.length === 1);
    await proxy.now({ kind: 'unfreeze', held: 'forget' });
    await apply('a', '2');
    assert.deepEqual(await brief(watching, 1), ['MODIFIED a 2']);
  });

  test('a watch of another resource is not touched, a watch that opens later is frozen too', async () => {
    const { proxy, caller, watching } = await watchUnder([]);
    await proxy.now({ kind: 'freeze', watches: { resource: 'secrets' } });
    await apply('a', '1');
    await watching.events(1);
    await proxy.now({ kind: 'freeze', watches: { resource: 'configmaps' } });
    const later = await caller.watch(initial);
    await eventually(() => proxy.trace.events.length === 3);
    assert.equal(later.text(), '');
    proxy.clearPlan();
    assert.deepEqual(await brief(later, 2), ['ADDED a 1', 'BOOKMARK undefined ']);
  });

  for (const [from, seen] of [
    ['this', []],
    ['next', ['ADDED a 1']],
  ] as const)
    test(`from ${from} event on`, async () => {
      const { proxy, watching } = await watchUnder([{ when: { event: { name: 'a' } }, do: { kind: 'freeze', from } }]);
      await apply('a', '1');
      await apply('b', '1');
      await eventually(() => proxy.trace.events.length === 2);
      assert.deepEqual(await brief(watching, seen.length), seen);
      assert.deepEqual(
        proxy.trace.events.map(({ deliveredAt }) => deliveredAt !== undefined),
        [seen.length === 1, false],
      );
    });

  test('by a write, until another one', async () => {
    const { proxy, caller, watching } = await watchUnder([
      { when: { write: { name: 'a' } }, do: { kind: 'freeze', watches: { resource: 'configmaps' } } },
      { when: { write: { name: 'b' } }, do: { kind: 'unfreeze' } },
    ]);
    await apply('a', '1', caller);
    await eventually(() => proxy.trace.events.length === 1);
    assert.equal(watching.text(), '');
    await apply('b', '1', caller);
    assert.deepEqual(await brief(watching, 2), ['ADDED a 1', 'ADDED b 1']);
  });
});

describe('single events', () => {
  const five = async () => {
    for (const value of ['1', '2', '3', '4', '5']) await apply('a', value);
  };

  test('skip: the second to the fourth', async () => {
    const { watching } = await watchUnder([{ when: { event: { name: 'a' }, nth: 2 }, do: { kind: 'skip' }, times: 3 }]);
    await five();
    assert.deepEqual(await brief(watching, 2), ['ADDED a 1', 'MODIFIED a 5']);
  });

  test('skip: the one in which a field takes a value', async () => {
    const field = { path: ['data', 'value'], before: '2', after: '3' };
    const { watching } = await watchUnder([{ when: { event: { field } }, do: { kind: 'skip' } }]);
    await five();
    assert.deepEqual(await brief(watching, 4), ['ADDED a 1', 'MODIFIED a 2', 'MODIFIED a 4', 'MODIFIED a 5']);
  });

  test('duplicate', async () => {
    const { watching } = await watchUnder(atUpdate({ kind: 'duplicate' }));
    await apply('a', '1');
    await apply('a', '2');
    assert.deepEqual(await brief(watching, 3), ['ADDED a 1', 'MODIFIED a 2', 'MODIFIED a 2']);
  });

  test('replayOlder: an object of the past after a newer one', async () => {
    const { watching } = await watchUnder([{ when: { event: { on: 'update' }, nth: 2 }, do: { kind: 'replayOlder' } }]);
    await apply('a', '1');
    await apply('a', '2');
    await apply('a', '3');
    assert.deepEqual(await brief(watching, 4), ['ADDED a 1', 'MODIFIED a 2', 'MODIFIED a 3', 'MODIFIED a 2']);
  });

  test('garbleLine: one broken line between good ones', async () => {
    const { watching } = await watchUnder(atUpdate({ kind: 'garbleLine' }));
    for (const value of ['1', '2', '3']) await apply('a', value);
    await eventually(() => watching.text().split('\n').length === 4);
    const [first = '', second = '', third = ''] = watching.text().split('\n');
    assert.equal(JSON.parse(first).object.data.value, '1');
    assert.throws(() => JSON.parse(second));
    assert.equal(JSON.parse(third).object.data.value, '3');
  });

  test('unknownType and oversize: lines that no caller expects', async () => {
    const plan: Plan = [
      { when: { event: { name: 'a' } }, do: { kind: 'unknownType' } },
      { when: { event: { name: 'b' } }, do: { kind: 'oversize', bytes: 100_000 } },
    ];
    const { watching } = await watchUnder(plan);
    await apply('a', '1');
    assert.deepEqual(await brief(watching, 1), ['RENAMED a 1']);
    await apply('b', '1');
    await eventually(() => watching.text().split('\n')[1]?.length === 99_999);
  });

  test('splitUtf8: the same line, with characters torn over packets', async () => {
    const { watching } = await watchUnder([{ when: { event: { name: 'a' } }, do: { kind: 'splitUtf8' } }]);
    await apply('a', 'žluťoučký 🐎');
    assert.deepEqual(await brief(watching, 1), ['ADDED a žluťoučký 🐎']);
    assert.ok(watching.pieces().length >= 6, `came in ${watching.pieces().length} pieces`);
  });

  test('a plan may begin and end in the middle of a watch', async () => {
    const { proxy, watching } = await watchUnder([]);
    await apply('a', '1');
    await watching.events(1);
    proxy.setPlan([{ when: { event: {} }, do: { kind: 'skip' } }]);
    await apply('a', '2');
    await eventually(() => proxy.firings()[0] === 1);
    proxy.clearPlan();
    await apply('a', '3');
    assert.deepEqual(await brief(watching, 2), ['ADDED a 1', 'MODIFIED a 3']);
  });
});

describe('the end of a watch', () => {
  test('reset: broken off', async () => {
    const { watching, proxy } = await watchUnder(atUpdate({ kind: 'reset' }));
    await apply('a', '1');
    await apply('a', '2');
    assert.match(await watching.ended(), /ECONNRESET|aborted/);
    assert.equal(proxy.watches(), 0);
  });

  test('closeClean: ended as if its time were over, after a while', async () => {
    const { watching } = await watchUnder([{ when: { after: 200 }, do: { kind: 'closeClean' } }]);
    assert.equal(await watching.ended(), 'clean');
  });

  test('errorEvent: 410 inside the stream, then a clean end', async () => {
    const { watching } = await watchUnder([{ when: { event: {} }, do: { kind: 'errorEvent', reason: 'Expired' } }]);
    await apply('a', '1');
    const [, error] = await watching.events(2);
    assert.deepEqual([error?.type, error?.object.kind, error?.object.reason], ['ERROR', 'Status', 'Expired']);
    assert.equal(await watching.ended(), 'clean');
  });

  test('each of them at the first moment of a watch', async () => {
    const plan: Plan = [
      { when: { request: { verb: 'watch' }, nth: 1 }, do: { kind: 'closeClean' } },
      { when: { request: { verb: 'watch' }, nth: 2 }, do: { kind: 'errorEvent', reason: 'Expired' } },
      { when: { request: { verb: 'watch' }, nth: 3 }, do: { kind: 'reset' } },
    ];
    const { caller } = await stage.through({ plan });
    assert.equal(await (await caller.watch()).ended(), 'clean');
    assert.equal(
      (await (await caller.watch(`&resourceVersion=${await version()}`)).events(1))[0]?.object.reason,
      'Expired',
    );
    await assert.rejects(async () => assert.equal(await (await caller.watch()).ended(), 'clean'));
  });

  test('truncate: broken off in the middle of a line', async () => {
    const { caller } = await stage.through({ plan: [{ when: { request: {} }, do: { kind: 'truncate', bytes: 30 } }] });
    const watching = await caller.watch(`&resourceVersion=${await version()}`);
    await apply('a', '1');
    assert.notEqual(await watching.ended(), 'clean');
    assert.equal(watching.text().length, 30);
  });
});

describe('another view of the world', () => {
  test('bookmarkOnly: the watch lives, and says nothing of objects', async () => {
    await apply('a', '1');
    const plan: Plan = [{ when: { request: { verb: 'watch' } }, do: { kind: 'bookmarkOnly' } }];
    const { caller, proxy } = await stage.through({ plan });
    const watching = await caller.watch(initial);
    assert.deepEqual(await brief(watching, 1), ['BOOKMARK undefined ']);
    assert.equal(proxy.trace.events.length, 2);
  });

  for (const [send, lines] of [
    ['nothing', 0],
    ['objects', 1],
  ] as const)
    test(`silentWatchList: ${send}, and never the end of it`, async () => {
      await apply('a', '1');
      const plan: Plan = [{ when: { request: {} }, do: { kind: 'silentWatchList', send }, times: 'always' }];
      const { caller } = await stage.through({ plan });
      const watching = await caller.watch(initial);
      await pause(300);
      assert.equal((await brief(watching, lines)).length, lines);
      const plain = await caller.watch('&resourceVersion=0');
      assert.deepEqual(await brief(plain, 1), ['ADDED a 1']);
    });

  test('serveOld: a list that accepts any version gets an old one, a consistent one is served live', async () => {
    await apply('a', '1');
    const old = await version();
    await apply('a', '2');
    const plan: Plan = [{ when: { request: {} }, do: { kind: 'serveOld', resourceVersion: old }, times: 'always' }];
    const { caller } = await stage.through({ plan });
    const values = async (query: string) => {
      const ended = await caller.call('GET', `${maps}${query}`);
      return 'status' in ended
        ? [ended.body.metadata.resourceVersion === old, ended.body.items?.map(({ data }) => data?.['value'])]
        : [];
    };
    assert.deepEqual(await values('?resourceVersion=0'), [true, ['1']]);
    assert.deepEqual(await values(''), [false, ['2']]);
  });

  test('serveOld and freeze: the view stays in the past until it is thawed', async () => {
    await apply('a', '1');
    await apply('b', '1');
    const old = await version();
    await stage.direct.call('DELETE', `${maps}/a`);
    await apply('a', 'recreated');
    const plan: Plan = [{ when: { request: { verb: 'watch' } }, do: { kind: 'serveOld', resourceVersion: old } }];
    const { proxy, caller } = await stage.through({ plan });
    await proxy.now({ kind: 'freeze', watches: { resource: 'configmaps' } });
    const watching = await caller.watch(`${initial}&resourceVersion=0`);
    const past = ['ADDED a 1', 'ADDED b 1', 'BOOKMARK undefined '];
    assert.deepEqual(await brief(watching, 3), past);
    await eventually(() => proxy.trace.events.length === 5);
    assert.deepEqual(await brief(watching, 3), past);
    await proxy.now({ kind: 'unfreeze' });
    assert.deepEqual(await brief(watching, 5), [...past, 'DELETED a 1', 'ADDED a recreated']);
  });
});
