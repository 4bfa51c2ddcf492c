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

function watched({
  namespace,
  needed = true,
  mayLack = false,
}: {
  namespace?: string;
  needed?: boolean;
  mayLack?: boolean;
} = {}) {
  const clock = new FakeClock();
  const problems = new Problems(silent);
  const holds: (string | undefined)[] = [];
  const store = new Store({ kind: Deployment, clock, onChange: () => {}, onListenerError: () => {} });
  const source = { kind: Deployment, metadataOnly: false, ...(namespace !== undefined && { namespace }) };
  const hold = (words: string | undefined) => void holds.push(words);
  let turns = 0;
  const turned = () => void turns++;
  let parents = 1;
  const told = { hold, turned, awaited: () => parents > 0 };
  const it = new Watched({ store, source, clock, limits: defaultLimits, problems, needed, mayLack, ...told });
  const leave = () => void (parents = 0);
  return { it, leave, clock, problems, holds, store, turns: () => turns };
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

describe('a kind that need not be served', () => {
  const held = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a', uid: 'u', resourceVersion: '7' } };

  test('is one of which there is nothing: that is a whole view, no problem, and holds nobody', () => {
    const { it, problems, holds, store, turns } = watched({ mayLack: true });
    it.trouble(answered(404));
    deepEqual([problems.list(), holds, store.synced, store.served, turns()], [[], [undefined], true, false, 1]);
    deepEqual(it.check(), { name: 'watch Deployment', ok: true, reason: 'not served here, and not needed' });
    equal(it.absent, true, 'its silence is no news');
  });

  test('that is looked for again and again is told once; and once more when it comes', () => {
    const { it, holds, turns } = watched({ mayLack: true });
    for (let looks = 0; looks < 3; looks++) it.trouble(answered(404));
    it.trouble(answered(500));
    equal(turns(), 1);
    it.feed.replace(new Map(), '9', 0);
    it.well();
    it.well();
    deepEqual([turns(), holds.length], [2, 2]);
    equal(it.check().ok, true);
  });

  test('takes everything along when it goes, and is served again when it comes', () => {
    const { it, store, turns } = watched({ mayLack: true });
    it.feed.replace(new Map([['/a', { object: held, hand: 'none' }]]), '7', 0);
    it.well();
    equal(store.size, 1);
    it.trouble(answered(404));
    deepEqual([store.size, store.served, turns()], [0, false, 1]);
    it.feed.replace(new Map(), '9', 0);
    equal(store.served, true);
  });

  test('is not looked for while nobody would use it', () => {
    const { it, leave } = watched({ mayLack: true });
    leave();
    equal(it.idle(), false, 'nobody knows yet whether it is there');
    it.trouble(answered(404));
    equal(it.idle(), true);
    const asked = watched({ mayLack: true });
    asked.it.trouble(answered(404));
    equal(asked.it.idle(), false);
  });

  test('is missed like any other while somebody cannot do without it', () => {
    const { it, problems, store } = watched();
    it.trouble(answered(404));
    deepEqual([problems.list().length, store.synced], [1, false]);
  });
});

test('a new watch means that its store has no whole view yet', () => {
  const { it, store } = watched();
  equal(store.synced, false);
  it.feed.replace(new Map(), '1', 0);
  equal(store.synced, true);
});
