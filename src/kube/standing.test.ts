// Every transition of the election, as values in and values out. A random search is in standing.model.test.ts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Lease } from '../objects/index.ts';
import {
  type Candidate,
  type Happening,
  type Standing,
  defaultTimes,
  mayWriteAt,
  microTime,
  patienceOf,
  releasedOf,
  restOf,
  step,
  wishOf,
} from './standing.ts';

const me: Candidate = { identity: 'me', namespace: 'baton', name: 'operator', times: defaultTimes };
const wall = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

const aLease = (spec: Lease['spec'] = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'baton', name: 'operator', resourceVersion: '7' },
  spec: { holderIdentity: 'other', leaseDurationSeconds: 15, leaseTransitions: 3, renewTime: microTime(wall), ...spec },
});
const mine = aLease({ holderIdentity: 'me' });

const play = (from: Standing, ...events: Happening[]): Standing =>
  events.reduce((standing, event) => step(standing, event, me), from);
const leading = (confirmed = 0, unsure = false): Standing => ({ as: 'leading', lease: mine, confirmed, unsure });
const standby: Standing = { as: 'standby' };
const saw = (at: number, lease: Lease | undefined = aLease()): Happening => ({ is: 'saw', lease, at });
const wish = (standing: Standing, at: number): Lease | undefined => wishOf(standing, me, { now: wall, at });

describe('a standby', () => {
  test('that has seen nothing yet wants nothing', () => {
    assert.equal(wish(standby, 1_000_000), undefined);
  });

  test('makes the lease if there is none', () => {
    const { metadata, spec } = wish(play(standby, { is: 'saw', lease: undefined, at: 5 }), 5) ?? {};
    assert.deepEqual(metadata, { namespace: 'baton', name: 'operator' });
    assert.deepEqual(spec, {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-02T03:04:05.678000Z',
      renewTime: '2026-01-02T03:04:05.678000Z',
      leaseTransitions: 0,
    });
  });

  test('pitfall 16: times have six fraction digits', () => {
    assert.equal(microTime(Date.UTC(2026, 1, 3)), '2026-02-03T00:00:00.000000Z');
    assert.equal(microTime(wall), '2026-01-02T03:04:05.678000Z');
  });

  test('pitfall 16: takes over when it saw no change for the whole duration, whatever the times in the lease say', () => {
    const future = aLease({ renewTime: microTime(wall + 86_400_000) });
    const watching = play(standby, saw(1_000, future), saw(9_000, future), saw(15_999, future));
    assert.equal(wish(watching, 15_999), undefined);
    assert.equal(wish(watching, 16_000)?.spec?.holderIdentity, 'me');
    const past = play(standby, saw(1_000, aLease({ renewTime: '2001-01-01T00:00:00.000000Z' })));
    assert.equal(wish(past, 15_999), undefined);
  });

  test('counts from the last change that it saw, and a change of metadata is none', () => {
    const renewed = aLease({ renewTime: microTime(wall + 2_000) });
    const touched: Lease = { ...renewed, metadata: { ...renewed.metadata, resourceVersion: '9', labels: { a: 'b' } } };
    const watching = play(standby, saw(0), saw(14_000, renewed), saw(20_000, touched));
    assert.equal(wish(watching, 28_999), undefined);
    assert.equal(wish(watching, 29_000)?.metadata.resourceVersion, '9');
  });

  test('respects the duration that the leader wrote, and its own if that is missing', () => {
    assert.equal(wish(play(standby, saw(0, aLease({ leaseDurationSeconds: 60 }))), 59_999), undefined);
    const without = aLease();
    delete without.spec?.leaseDurationSeconds;
    assert.equal(wish(play(standby, saw(0, without)), 14_999), undefined);
    assert.ok(wish(play(standby, saw(0, without)), 15_000));
  });

  test('takes a released lease, or one without a holder, at once; the transition is counted', () => {
    const orphan: Lease = { ...aLease(), spec: { leaseTransitions: 3 } };
    for (const free of [releasedOf(aLease(), wall), orphan]) {
      const claim: Lease | undefined = wish(play(standby, saw(5, free)), 5);
      const { holderIdentity, leaseTransitions, leaseDurationSeconds } = claim?.spec ?? {};
      assert.deepEqual([holderIdentity, leaseTransitions, leaseDurationSeconds], ['me', 4, 15]);
      assert.equal(claim?.metadata.resourceVersion, '7');
    }
  });

  test('that still holds the lease takes it back at once; that is no transition', () => {
    assert.equal(wish(play(standby, saw(5, mine)), 5)?.spec?.leaseTransitions, 3);
  });

  test('that lost the race or got no answer stays one, and remembers what it saw', () => {
    const watching = play(standby, saw(0));
    assert.deepEqual(play(watching, { is: 'refused', at: 9 }), watching);
    assert.deepEqual(play(watching, { is: 'unanswered', at: 9 }), watching);
  });

  test('leads when its claim is confirmed, from the moment at which it asked', () => {
    const led = play(standby, { is: 'confirmed', lease: mine, asked: 100, at: 2_000 });
    assert.deepEqual(led, leading(100));
  });

  test('does not lead when the answer took longer than the renew deadline', () => {
    const late = play(standby, { is: 'confirmed', lease: mine, asked: 100, at: 10_100 });
    assert.equal(late.as, 'lost');
  });

  test('looks each second, and right when the lease runs out', () => {
    const watching = play(standby, saw(0));
    assert.equal(restOf(watching, me, 0), 1_000);
    assert.equal(restOf(watching, me, 14_700), 300);
    assert.equal(restOf(watching, me, 15_100), 1_000);
  });
});

describe('a leader', () => {
  test('renews by one write that carries the resourceVersion it knows', () => {
    const { metadata, spec } = wish(leading(), 2_000) ?? {};
    assert.equal(metadata?.resourceVersion, '7');
    assert.deepEqual([spec?.holderIdentity, spec?.leaseTransitions], ['me', 3]);
    assert.equal(restOf(leading(), me, 30), 1_970);
  });

  test('may write until the renew deadline after the start of the last confirmed renewal, and not a millisecond longer', () => {
    const renewed = play(leading(0), { is: 'confirmed', lease: mine, asked: 2_000, at: 5_000 });
    assert.equal(mayWriteAt(renewed, 11_999, defaultTimes), true);
    assert.equal(mayWriteAt(renewed, 12_000, defaultTimes), false);
  });

  test('pitfall 15: a request is shorter than what is left, so that there is time for another', () => {
    for (const at of [0, 2_000, 5_000, 9_000, 9_900])
      assert.ok(patienceOf(leading(), me, at) < 10_000 - at, `at ${at}`);
    assert.ok(patienceOf(leading(), me, 2_000) <= 2_500);
  });

  test('pitfall 15: no rest is longer than what is left, so that the term ends on time', () => {
    assert.equal(restOf(leading(0, true), me, 9_000), 500);
    assert.equal(restOf(leading(0, true), me, 9_850), 100);
    assert.equal(restOf(leading(0, true), me, 9_970), 30);
    assert.equal(restOf(leading(0, true), me, 11_000), 0);
  });

  test('that got no answer still leads, but looks before it writes again', () => {
    const unsure = play(leading(), { is: 'unanswered', at: 4_000 });
    assert.deepEqual(unsure, leading(0, true));
    assert.equal(restOf(unsure, me, 4_000), 1_000);
    const newer: Lease = { ...mine, metadata: { ...mine.metadata, resourceVersion: '8' } };
    assert.deepEqual(play(unsure, saw(5_000, newer)), { as: 'leading', lease: newer, confirmed: 0, unsure: false });
  });

  test('pitfall 15: that finds another holder, a deleted lease or a conflict stops at once', () => {
    for (const event of [saw(1), { is: 'saw', lease: undefined, at: 1 } as const, { is: 'refused', at: 1 } as const]) {
      const lost = play(leading(0, true), event);
      assert.equal(lost.as, 'lost');
      assert.equal(mayWriteAt(lost, 1, defaultTimes), false);
      assert.equal(restOf(lost, me, 1), 0);
    }
  });

  test('pitfall 15: stops when the deadline passes, whatever happens at that moment', () => {
    for (const is of ['passed', 'unanswered', 'refused'] as const)
      assert.equal(play(leading(), { is, at: 10_000 }).as, 'lost', is);
    assert.equal(play(leading(), saw(10_000, mine)).as, 'lost');
    assert.deepEqual(play(leading(), { is: 'passed', at: 9_999 }), leading());
  });

  test('pitfall 15: that was stopped in mid-request and wakes up with an old answer does not lead', () => {
    const woken = play(leading(0), { is: 'confirmed', lease: mine, asked: 2_000, at: 25_000 });
    assert.equal(woken.as, 'lost');
  });

  test('that lost is a standby with the next event', () => {
    assert.equal(play(leading(), { is: 'refused', at: 1 }, saw(2)).as, 'standby');
    assert.equal(play(leading(), { is: 'refused', at: 1 }, { is: 'unanswered', at: 2 }).as, 'standby');
  });
});

describe('who has released', () => {
  test('pitfall 15: wants nothing and never leads again, also when a late answer says otherwise', () => {
    const released: Standing = { as: 'released' };
    assert.equal(wish(released, 5), undefined);
    assert.deepEqual(play(released, { is: 'confirmed', lease: mine, asked: 4, at: 5 }, saw(6)), released);
  });

  test('leaves a lease that is nobody’s and short', () => {
    const { holderIdentity, leaseDurationSeconds, leaseTransitions } = releasedOf(mine, wall).spec ?? {};
    assert.deepEqual([holderIdentity, leaseDurationSeconds, leaseTransitions], ['', 1, 3]);
  });
});
