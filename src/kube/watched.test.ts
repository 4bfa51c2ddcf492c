import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../tests/kit/clock.ts';
import { silent } from '../base/index.ts';
import { Deployment } from '../objects/index.ts';
import { Store } from './cache.ts';
import { ApiError } from './client/index.ts';
import { Problems } from './problems.ts';
import { defaultLimits } from './watch.ts';
import { Watched } from './watched.ts';

const answered = (status: number) => new ApiError({ status, reason: '', message: 'no', verb: 'watch', path: '/' });

function watched({ namespace, needed = true }: { namespace?: string; needed?: boolean } = {}) {
  const clock = new FakeClock();
  const problems = new Problems(silent);
  const holds: (string | undefined)[] = [];
  const store = new Store({ kind: Deployment, clock, onChange: () => {}, onListenerError: () => {} });
  const source = { kind: Deployment, metadataOnly: false, ...(namespace !== undefined && { namespace }) };
  const hold = (words: string | undefined) => void holds.push(words);
  const it = new Watched({ store, source, clock, limits: defaultLimits, problems, needed, hold });
  return { it, clock, problems, holds, store };
}

describe('a watch, as a probe sees it', () => {
  test('is not ready before its first whole view', () => {
    const { it } = watched();
    deepEqual(it.check(), { name: 'watch Deployment', ok: false, reason: 'has no whole view yet' });
  });

  test('is ready with it, and stays so while bytes come', async () => {
    const { it, clock } = watched();
    it.well();
    await clock.advance(defaultLimits.idle);
    it.alive();
    await clock.advance(defaultLimits.idle);
    deepEqual(it.check(), { name: 'watch Deployment', ok: true });
  });

  test('is not ready when it fell silent for longer than a watch may', async () => {
    const { it, clock } = watched();
    it.well();
    await clock.advance(defaultLimits.idle + 10_000);
    equal(it.check().ok, true);
    await clock.advance(1_000);
    deepEqual(it.check(), { name: 'watch Deployment', ok: false, reason: 'silent for 91 s' });
  });

  test('says which namespace it is about', () =>
    equal(watched({ namespace: 'street' }).it.name, 'watch Deployment in street'));

  test('that nobody needs is ready while it is not there', () => {
    const { it } = watched({ needed: false });
    deepEqual(it.check(), { name: 'watch Deployment', ok: true, reason: 'not there, and not needed' });
    it.trouble(answered(404));
    equal(it.check().ok, true);
  });

  test('that nobody needs, but that was there, is missed when it falls silent', async () => {
    const { it, clock } = watched({ needed: false });
    it.well();
    await clock.advance(defaultLimits.idle + 11_000);
    equal(it.check().ok, false);
  });
});

describe('trouble of a watch', () => {
  test('that only time mends is neither a problem nor a reason to wait', () => {
    const { it, problems, holds } = watched();
    it.trouble(answered(500));
    it.trouble(new Error('a broken line'));
    deepEqual([problems.list(), holds], [[], []]);
  });

  for (const status of [403, 404])
    test(`status ${status} is a problem of its own and holds whoever needs it, until it is well again`, () => {
      const { it, problems, holds } = watched();
      it.trouble(answered(status));
      deepEqual(
        problems.list().map(({ name }) => name),
        ['watch Deployment'],
      );
      match(holds[0] ?? '', /deployments\.apps/);
      it.well();
      deepEqual([problems.list(), holds.at(-1)], [[], undefined]);
    });

  for (const status of [0, 401])
    test(`status ${status} is one problem for all, and holds nobody by name`, () => {
      const { it, problems, holds } = watched();
      it.trouble(answered(status));
      deepEqual([problems.list().map(({ name }) => name), holds], [['API server'], []]);
      it.well();
      deepEqual(problems.list(), []);
    });

  test('a kind that is absent and not needed is no problem; a missing right is', () => {
    const { it, problems } = watched({ needed: false });
    it.trouble(answered(404));
    deepEqual(problems.list(), []);
    it.trouble(answered(403));
    equal(problems.list().length, 1);
  });

  test('is lifted once, not with every event', () => {
    const { it, holds } = watched();
    for (let events = 0; events < 3; events++) it.well();
    equal(holds.length, 1);
    it.trouble(answered(500));
    it.well();
    equal(holds.length, 2);
  });
});

test('a new watch means that its store has no whole view yet', () => {
  const { it, store } = watched();
  equal(store.synced, false);
  it.feed.replace(new Map(), '1', 0);
  equal(store.synced, true);
});
