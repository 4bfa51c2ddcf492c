// When rules act: occasions made by hand go in, actions come out.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { describe as callOf } from './incoming.ts';
import { type Action, type Plan, type Trigger } from './plan.ts';
import type { WatchEvent } from './trace.ts';
import { makeRules, type Occasion, timesOf } from './triggers.ts';

const json = { 'content-type': 'application/json' };

function request(method: string, path: string, body: object = {}, at = 0): Occasion {
  const outgoing = { method, path, headers: json, body: Buffer.from(JSON.stringify(body)) };
  return { subject: 'request', at, call: { ...callOf(outgoing, at), seq: 1 } };
}

const create = (name: string, at = 0) =>
  request('POST', '/api/v1/namespaces/shop/configmaps', { metadata: { name } }, at);
const get = (name: string, at = 0) => request('GET', `/api/v1/namespaces/shop/configmaps/${name}`, {}, at);

function event(
  type: string,
  name: string,
  object: object = {},
  at = 0,
): Occasion & { subject: 'event'; event: WatchEvent } {
  const place = { watch: 1, group: '', resource: 'configmaps', kind: 'ConfigMap', namespace: 'shop', uid: 'u' };
  const about = { ...place, seq: 1, at, type, name, resourceVersion: '1', deliveredAt: undefined };
  return { subject: 'event', at, object, event: about };
}

const time = (at: number): Occasion => ({ subject: 'time', at });

/** On which of the occasions (by index) a rule with this trigger acts. */
function actsAt(when: Trigger, occasions: Occasion[], rule: { do?: Action; times?: number | 'always' } = {}): number[] {
  const rules = makeRules([{ when, do: { kind: 'release', name: 'x' }, times: 'always', ...rule }], 0);
  return occasions.flatMap((occasion, index) => (rules.on(occasion).length > 0 ? [index] : []));
}

describe('requests', () => {
  test('every request that matches sets a rule off, until its times are used up', () => {
    const three = [create('a'), create('a'), create('a')];
    assert.deepEqual(actsAt({ request: { verb: 'create' } }, three), [0, 1, 2]);
    assert.deepEqual(actsAt({ request: { verb: 'create' } }, three, { times: 2 }), [0, 1]);
    assert.deepEqual(makeRules([{ when: { request: {} }, do: { kind: 'hang' } }], 0).on(create('a')), [
      { kind: 'hang' },
    ]);
  });

  test('a rule acts once if nothing else is said', () => {
    const rules = makeRules([{ when: { request: {} }, do: { kind: 'hang' } }], 0);
    assert.deepEqual([rules.on(create('a')).length, rules.on(create('a')).length], [1, 0]);
    assert.deepEqual(rules.firings(), [1]);
  });

  test('the filter asks for each of its fields, and a list means any of them', () => {
    const seen = [create('a'), create('b'), get('a'), get('c')];
    assert.deepEqual(actsAt({ request: { name: 'a' } }, seen), [0, 2]);
    assert.deepEqual(actsAt({ request: { name: ['a', 'b'], verb: 'create' } }, seen), [0, 1]);
    assert.deepEqual(actsAt({ request: { group: 'apps' } }, seen), []);
    assert.deepEqual(actsAt({ request: { group: '', namespace: 'shop', resource: 'configmaps' } }, seen), [0, 1, 2, 3]);
  });

  test('the nth write counts only writes', () => {
    assert.deepEqual(
      actsAt({ write: {}, nth: 2 }, [create('a'), get('a'), create('b'), create('c')], { times: 1 }),
      [2],
    );
  });

  test('an update of status and a change by another manager can be told apart', () => {
    const status = request('PATCH', '/api/v1/namespaces/shop/configmaps/a/status?fieldManager=one');
    const whole = request('PATCH', '/api/v1/namespaces/shop/configmaps/a?fieldManager=two');
    assert.deepEqual(actsAt({ write: { subresource: 'status' } }, [status, whole]), [0]);
    assert.deepEqual(actsAt({ write: { subresource: '' } }, [status, whole]), [1]);
    assert.deepEqual(actsAt({ write: { fieldManager: 'two' } }, [status, whole]), [1]);
  });

  test('from the nth on, each everyth, as often as its times', () => {
    const numbers = fc.record({
      nth: fc.integer({ min: 1, max: 9 }),
      every: fc.integer({ min: 1, max: 5 }),
      times: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(numbers, ({ nth, every, times }) => {
        const expected = Array.from({ length: times }, (_, index) => nth - 1 + index * every).filter(
          (index) => index < 30,
        );
        const seen = Array.from({ length: 30 }, () => create('a'));
        assert.deepEqual(actsAt({ write: {}, nth, every }, seen, { times }), expected);
      }),
    );
  });
});

describe('watch events', () => {
  test('create, update and delete of a key', () => {
    const seen = [
      event('ADDED', 'a'),
      event('MODIFIED', 'a'),
      event('ADDED', 'b'),
      event('DELETED', 'a'),
      event('BOOKMARK', ''),
    ];
    assert.deepEqual(actsAt({ event: { on: 'create', name: 'a' } }, seen), [0]);
    assert.deepEqual(actsAt({ event: { on: 'update' } }, seen), [1]);
    assert.deepEqual(actsAt({ event: { on: 'delete', kind: 'ConfigMap' } }, seen), [3]);
    assert.deepEqual(actsAt({ event: { on: 'bookmark' } }, seen), [4]);
    assert.deepEqual(actsAt({ event: {} }, seen), [0, 1, 2, 3]);
  });

  test('a field that changes from one value to another', () => {
    const phase = (value?: string) => event('MODIFIED', 'a', value === undefined ? {} : { status: { phase: value } });
    const seen = [
      phase(),
      phase('Pending'),
      phase('Pending'),
      phase('Running'),
      phase('Pending'),
      phase('Running'),
      phase(),
    ];
    const path = ['status', 'phase'];
    assert.deepEqual(actsAt({ event: { field: { path } } }, seen), [1, 3, 4, 5, 6]);
    assert.deepEqual(actsAt({ event: { field: { path, before: 'Pending', after: 'Running' } } }, seen), [3, 5]);
    assert.deepEqual(actsAt({ event: { field: { path, after: null } } }, seen), [6]);
    assert.deepEqual(actsAt({ event: { field: { path, before: 'Pending', after: 'Running' } }, nth: 2 }, seen), [5]);
  });

  test('the field of one object says nothing about another', () => {
    const seen = [event('ADDED', 'a', { data: { x: '1' } }), event('ADDED', 'b', { data: { x: '2' } })];
    assert.deepEqual(actsAt({ event: { field: { path: ['data', 'x'], before: '1', after: '2' } } }, seen), []);
  });
});

describe('time and combinations', () => {
  test('after a time, whatever comes', () => {
    assert.deepEqual(actsAt({ after: 100 }, [create('a', 50), time(100), get('a', 150)]), [1, 2]);
    assert.deepEqual(
      timesOf([{ when: { all: [{ after: 5 }, { any: [{ after: 7 }] }] }, do: { kind: 'reset' } }]),
      [5, 7],
    );
  });

  test('a request after a time needs that request, not one that came before', () => {
    const when = { all: [{ after: 100 }, { request: { name: 'a' } }] };
    assert.deepEqual(actsAt(when, [create('a', 50), time(100), get('b', 120), get('a', 150)]), [3]);
  });

  test('all acts when the last of its parts happens', () => {
    const when = { all: [{ event: { on: 'delete' as const } }, { request: { verb: 'create' } }] };
    assert.deepEqual(actsAt(when, [create('a'), event('DELETED', 'a'), get('a'), create('b')]), [1, 3]);
  });

  test('an action on a request waits for a request, though an event completes its trigger', () => {
    const when = { all: [{ event: { on: 'delete' as const } }, { request: { verb: 'create' } }] };
    assert.deepEqual(actsAt(when, [create('a'), event('DELETED', 'a'), create('b')], { do: { kind: 'hang' } }), [2]);
  });

  test('any acts at each of its parts', () => {
    const when = { any: [{ event: { on: 'delete' as const } }, { request: { verb: 'create' }, nth: 2 }] };
    assert.deepEqual(actsAt(when, [create('a'), event('DELETED', 'a'), create('b'), get('b')]), [1, 2]);
  });

  test('several rules act on one occasion, in their order', () => {
    const plan: Plan = [
      { when: { request: {} }, do: { kind: 'delay', ms: 1 } },
      { when: { request: {} }, do: { kind: 'dropAfter' } },
    ];
    assert.deepEqual(
      makeRules(plan, 0)
        .on(create('a'))
        .map(({ kind }) => kind),
      ['delay', 'dropAfter'],
    );
  });
});

describe('what would not be fair or could not be', () => {
  test('old data is served only to those who accept any version', () => {
    const list = (version: string) => request('GET', `/api/v1/configmaps?resourceVersion=${version}`);
    const seen = [list(''), list('7'), list('0')];
    assert.deepEqual(actsAt({ request: {} }, seen, { do: { kind: 'serveOld', resourceVersion: '5' } }), [2]);
  });
});
