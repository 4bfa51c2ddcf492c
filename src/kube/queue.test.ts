// The queue's promises, one by one, on a clock that stands still. The random search is in queue.model.test.ts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../tests/kit/clock.ts';
import { Queue, type QueueOptions } from './queue.ts';

type Result = Error | { again?: number } | undefined;

/** A queue whose passes are written down as `key@ms`; each takes `takes` ms and ends as `result` says. */
function aQueue(options: Partial<QueueOptions> & { takes?: number; result?: (key: string) => Result } = {}) {
  const clock = new FakeClock();
  const passes: string[] = [];
  const failed: { failures: number; delay: number }[] = [];
  const queue = new Queue({
    clock,
    random: () => 1,
    workers: 1,
    async run(key) {
      passes.push(`${key}@${clock.monotonic()}`);
      if (options.takes) await new Promise<void>((resolve) => void clock.after(options.takes ?? 0, resolve));
      const result = options.result?.(key);
      if (result instanceof Error) throw result;
      return result;
    },
    failed: (_key, _error, failures, delay) => failed.push({ failures, delay }),
    ...options,
  });
  return { clock, queue, passes, failed };
}

const failing = () => new Error('no luck');

describe('queue', () => {
  test('pitfall 9: a thousand events for one key are one pass, and nothing remains of it', async () => {
    const { clock, queue, passes } = aQueue();
    for (let i = 0; i < 1_000; i++) queue.add('a');
    assert.equal(queue.size, 1);
    await clock.advance(10_000);
    assert.deepEqual(passes, ['a@0']);
    assert.deepEqual({ size: queue.size, timers: clock.timers }, { size: 0, timers: 0 });
  });

  test('a first edit never waits, and one that follows within the quiet time waits out the rest', async () => {
    const { clock, queue, passes } = aQueue({ takes: 100 });
    queue.add('a', 'edit');
    await clock.advance(250);
    queue.add('a', 'edit');
    await clock.advance(1_000);
    await clock.advance(1_000);
    queue.add('a', 'edit');
    await clock.advance(1);
    assert.deepEqual(passes, ['a@0', 'a@600', 'a@2250']);
  });

  test('a single edit does not wait for the quiet time of a pass that was for something else', async () => {
    const { clock, queue, passes } = aQueue();
    queue.add('a', 'change');
    await clock.advance(10);
    queue.add('a', 'edit');
    await clock.advance(10);
    queue.add('a', 'change');
    await clock.advance(1_000);
    assert.deepEqual(passes, ['a@0', 'a@10', 'a@510']);
  });

  test('50 edits in 5 s take at most 12 passes, and the last edit is seen', async () => {
    const { clock, queue, passes } = aQueue({ takes: 20 });
    for (let i = 0; i < 50; i++) {
      queue.add('a', 'edit');
      await clock.advance(100);
    }
    await clock.advance(2_000);
    const last = Number(passes.at(-1)?.split('@')[1]);
    assert.ok(passes.length <= 12, `${passes.length} passes`);
    assert.ok(last >= 4_900 && last <= 5_500, `the last pass began at ${last}`);
  });

  test('a key that is added while it runs, runs once more, never twice at the same time', async () => {
    const { clock, queue, passes } = aQueue({ takes: 300, workers: 4 });
    queue.add('a', 'resync');
    await clock.advance(100);
    queue.add('a', 'resync');
    queue.add('a', 'edit');
    await clock.advance(2_000);
    assert.deepEqual(passes, ['a@0', 'a@300']);
  });

  test('pitfall 14: an edit goes before a backlog of resyncs', async () => {
    const { clock, queue, passes } = aQueue({ takes: 10 });
    for (let i = 0; i < 100; i++) queue.add(`r${i}`, 'resync');
    await clock.advance(25);
    queue.add('e', 'edit');
    await clock.advance(10);
    assert.deepEqual(passes, ['r0@0', 'r1@10', 'r2@20', 'e@30']);
  });

  test('pitfall 14: an edit of a key that waits in a backlog brings the key to the front', async () => {
    const { clock, queue, passes } = aQueue({ takes: 10 });
    for (let i = 0; i < 100; i++) queue.add(`r${i}`, 'resync');
    await clock.advance(5);
    queue.add('r90', 'edit');
    await clock.advance(10);
    assert.deepEqual(passes, ['r0@0', 'r90@10']);
  });

  test('pitfall 14: a resync is not starved by edits that keep coming', async () => {
    const { clock, queue, passes } = aQueue({ takes: 100 });
    queue.add('first', 'edit');
    await clock.advance(1);
    queue.add('old', 'resync');
    for (let i = 0; i < 420; i++) {
      queue.add(`e${i}`, 'edit');
      await clock.advance(50);
    }
    const at = Number(passes.find((pass) => pass.startsWith('old@'))?.split('@')[1]);
    // Twice as many edits come as one worker serves; those of the first 10 s go first, and no later one.
    assert.ok(at <= 20_200, `the resync began at ${at}`);
  });

  test('keys of one priority go first come, first served', async () => {
    const { clock, queue, passes } = aQueue({ takes: 1 });
    for (const key of ['c', 'a', 'b']) queue.add(key);
    await clock.advance(10);
    assert.deepEqual(passes, ['c@0', 'a@1', 'b@2']);
  });

  test('failures wait longer each time, up to the most, and a success forgets them', async () => {
    let broken = true;
    const { clock, queue, failed } = aQueue({
      backoff: { first: 1_000, most: 5_000 },
      result: () => (broken ? failing() : undefined),
    });
    queue.add('a');
    await clock.advance(16_999);
    assert.deepEqual(
      failed.map(({ failures, delay }) => [failures, delay]),
      [1_000, 2_000, 4_000, 5_000, 5_000].map((delay, i) => [i + 1, delay]),
    );
    broken = false;
    await clock.advance(5_000);
    broken = true;
    queue.add('a', 'edit');
    await clock.advance(500);
    assert.deepEqual(failed.at(-1), { failures: 1, delay: 1_000 });
  });

  test('an edit ends a backoff at once, news cuts it to a second, a resync waits for its end', async () => {
    for (const [priority, begins] of [
      ['edit', 2_000],
      ['change', 3_000],
      ['resync', 60_000],
    ] as const) {
      const { clock, queue, passes } = aQueue({ backoff: { first: 60_000, most: 60_000 }, result: failing });
      queue.add('a', 'change');
      await clock.advance(2_000);
      queue.add('a', priority);
      await clock.advance(60_000);
      assert.equal(passes[1], `a@${begins}`, priority);
    }
  });

  test('news that keeps coming does not make a failing key hotter than one pass a second', async () => {
    const { clock, queue, passes } = aQueue({ result: failing });
    for (let i = 0; i < 300; i++) {
      queue.add('a', 'change');
      await clock.advance(100);
    }
    assert.ok(passes.length <= 33, `${passes.length} passes in 30 s`);
  });

  test('after an edit the backoff begins anew', async () => {
    const { clock, queue, failed } = aQueue({ backoff: { first: 1_000, most: 60_000 }, result: failing });
    queue.add('a');
    await clock.advance(8_000);
    queue.add('a', 'edit');
    await clock.advance(1);
    assert.deepEqual([failed.at(-2)?.delay, failed.at(-1)?.delay], [8_000, 1_000]);
  });

  test('of several looks that were asked for during a pass the first one counts', async () => {
    const { clock, queue, passes } = aQueue({ takes: 100 });
    queue.add('a');
    await clock.advance(10);
    queue.after('a', 2_000);
    queue.after('a', 9_000);
    await clock.advance(5_000);
    assert.deepEqual(passes, ['a@0', 'a@2010']);
  });

  test('an edit that comes while a pass fails is not held back by the failure', async () => {
    const { clock, queue, passes, failed } = aQueue({
      takes: 100,
      backoff: { first: 60_000, most: 60_000 },
      result: failing,
    });
    queue.add('a', 'edit');
    await clock.advance(50);
    queue.add('a', 'edit');
    await clock.advance(1_000);
    assert.deepEqual(passes, ['a@0', 'a@600']);
    assert.deepEqual(failed[0], { failures: 1, delay: 500 });
  });

  test('what the server asked to wait holds for an edit too, also behind a cause', async () => {
    const busy = new Error('pass failed', { cause: Object.assign(new Error('429'), { retryAfter: 7_000 }) });
    const { clock, queue, passes } = aQueue({ result: () => busy });
    queue.add('a', 'edit');
    await clock.advance(1_000);
    queue.add('a', 'edit');
    await clock.advance(6_500);
    assert.deepEqual(passes, ['a@0', 'a@7000']);
  });

  test('reset: the next add of any priority runs at once', async () => {
    const { clock, queue, passes } = aQueue({ backoff: { first: 60_000, most: 60_000 }, result: failing });
    queue.add('a');
    await clock.advance(1_000);
    queue.reset('a');
    queue.add('a', 'resync');
    await clock.advance(1);
    assert.deepEqual(passes, ['a@0', 'a@1000']);
  });

  test('`again` and `after` look later; an earlier add makes the look void', async () => {
    let again: number | undefined = 3_000;
    const { clock, queue, passes } = aQueue({ result: () => (again === undefined ? {} : { again }) });
    queue.add('a');
    await clock.advance(3_000);
    again = undefined;
    await clock.advance(3_000);
    queue.after('a', 5_000);
    queue.after('a', 9_000);
    await clock.advance(1_000);
    queue.add('a');
    await clock.advance(20_000);
    assert.deepEqual(passes, ['a@0', 'a@3000', 'a@6000', 'a@7000']);
  });

  test('`again: 0` is not a hot loop, and a look that is not a number is a failed pass', async () => {
    const hot = aQueue({ result: () => ({ again: 0 }) });
    hot.queue.add('a');
    await hot.clock.advance(1_600);
    assert.deepEqual(hot.passes, ['a@0', 'a@500', 'a@1000', 'a@1500']);
    const broken = aQueue({ result: () => ({ again: Number.NaN }) });
    broken.queue.add('a');
    await broken.clock.advance(1);
    assert.equal(broken.failed.length, 1);
    assert.throws(() => broken.queue.after('a', Number.NaN), TypeError);
  });

  test('forget: nothing runs any more, and a failing last pass is not tried again', async () => {
    const { clock, queue, passes, failed } = aQueue({ takes: 100, result: failing });
    queue.add('waits', 'resync');
    queue.add('runs', 'edit');
    await clock.advance(50);
    queue.add('runs');
    queue.forget('runs');
    queue.forget('waits');
    await clock.advance(60_000);
    assert.deepEqual(passes, ['runs@0']);
    assert.deepEqual(failed, [{ failures: 1, delay: Infinity }]);
    assert.deepEqual({ size: queue.size, timers: clock.timers }, { size: 0, timers: 0 });
  });

  test('a key that comes back while its last pass runs, waits for that pass and no longer', async () => {
    const { clock, queue, passes } = aQueue({ takes: 100, workers: 2 });
    queue.add('a', 'edit');
    await clock.advance(50);
    queue.forget('a');
    queue.add('a', 'edit');
    await clock.advance(1_000);
    assert.deepEqual(passes, ['a@0', 'a@100']);
  });

  test('paused: keys are kept and nothing starts; resumed: they run', async () => {
    const { clock, queue, passes } = aQueue();
    queue.pause();
    queue.add('a');
    queue.after('b', 1_000);
    await clock.advance(5_000);
    assert.deepEqual(passes, []);
    assert.deepEqual([queue.size, queue.oldestWaiting()], [2, 5_000]);
    queue.resume();
    await clock.advance(1);
    assert.deepEqual(passes, ['a@5000', 'b@5000']);
  });

  test('drain: running passes end, waiting keys are given up, nothing is taken any more', async () => {
    const { clock, queue, passes } = aQueue({ takes: 100, result: failing });
    queue.add('a');
    await settle();
    queue.add('a');
    queue.add('b');
    queue.after('c', 10);
    let drained = false;
    const draining = queue.drain().then(() => (drained = true));
    queue.add('d');
    await clock.advance(50);
    assert.equal(drained, false);
    await clock.advance(50);
    await draining;
    await clock.advance(60_000);
    assert.deepEqual(passes, ['a@0']);
    assert.deepEqual(
      { size: queue.size, running: queue.running, timers: clock.timers },
      { size: 0, running: 0, timers: 0 },
    );
    await queue.drain();
  });

  test('a clock that was stopped for an hour brings no storm: each key runs once', async () => {
    const { clock, queue, passes } = aQueue({ result: () => ({ again: 1_000 }) });
    queue.add('a');
    await settle();
    clock.freeze(3_600_000);
    clock.jump(-7_200_000);
    await clock.advance(999);
    assert.deepEqual(passes, ['a@0', 'a@3600000']);
  });

  test('10,000 keys at once all run, a few at a time, and the event loop gets its turns between', async () => {
    const { clock, queue, passes } = aQueue({ workers: 10 });
    for (let i = 0; i < 10_000; i++) queue.add(`k${i}`, 'resync');
    assert.deepEqual(queue.stats(), { ready: 10_000, delayed: 0, running: 0, added: 10_000, passes: 0, failures: 0 });
    await settle(10);
    assert.ok(passes.length <= 110, `${passes.length} passes in ten turns of the event loop`);
    await settle(1_100);
    assert.equal(passes.length, 10_000);
    await clock.advance(600);
    assert.equal(clock.timers, 0);
  });
});
