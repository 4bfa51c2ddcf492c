import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../tests/kit/clock.ts';
import type { Fact, Known, Observed, Parent, Reader } from './define.ts';
import { Gatherer } from './gather.ts';

/** One question on its way to whoever knows. */
interface Asked {
  inputs: unknown;
  signal: AbortSignal;
  answer(value: unknown): Promise<void>;
  fail(error: unknown): Promise<void>;
}

const backoff = { first: 1_000, most: 8_000 };
const noReader = {} as Reader;
const noWorld = {} as Observed;
const freshFor = 10_000;

interface Limits {
  parallel?: number;
  fresh?: number;
  perSecond?: number;
  slowsTo?: number;
  after?: number;
  share?: number;
  isFinal?: (value: unknown) => boolean;
}

/** A gatherer of one fact, whose inputs are the object's spec and whose answers the test gives. */
function gathering({ parallel = 2, fresh = freshFor, ...limits }: Limits = {}) {
  const clock = new FakeClock();
  const asked: Asked[] = [];
  const woken: string[] = [];
  const weather: Fact<Parent, unknown, unknown, object> = {
    inputs: ({ spec }) => spec,
    freshFor: fresh,
    ...limits,
    fetch: (inputs, { signal }) =>
      new Promise((resolve, reject) => {
        const then = (end: (value: unknown) => void) => (value: unknown) => {
          end(value);
          return settle();
        };
        asked.push({ inputs, signal, answer: then(resolve), fail: then(reject) });
      }),
  };
  const gatherer = new Gatherer({
    facts: { weather },
    tools: { kube: noReader, clients: {} },
    clock,
    random: () => 1,
    wake: (key) => woken.push(key),
    parallel,
    backoff,
  });
  const facts = (spec: unknown, key = 'a') =>
    gatherer.facts(key, { apiVersion: '', kind: '', metadata: { name: key }, spec }, noWorld)['weather'];
  return { clock, asked, woken, gatherer, facts };
}

/** The question that was asked last. */
const last = (asked: Asked[]): Asked => asked.at(-1) ?? fail('nothing was asked');
const known = (value: unknown): Known<unknown> => ({ state: 'known', value });
const fail = (why: string): never => {
  throw new Error(why);
};

describe('a fact', () => {
  test('that is not needed is not asked for', () => {
    const { facts, asked } = gathering();
    deepEqual(facts(undefined), { state: 'unneeded' });
    equal(asked.length, 0);
  });

  test('is pending, then known, and its object is woken', async () => {
    const { facts, asked, woken } = gathering();
    deepEqual(facts('Oslo'), { state: 'pending' });
    deepEqual(facts('Oslo'), { state: 'pending' });
    equal(asked.length, 1, 'a second pass does not ask a second time');
    await last(asked).answer('snow');
    deepEqual([facts('Oslo'), woken], [known('snow'), ['a']]);
  });

  test('is asked again when it is no longer fresh, and wakes only when it changed', async () => {
    const { facts, asked, woken, clock } = gathering();
    facts('Oslo');
    await last(asked).answer({ sky: 'grey' });
    await clock.advance(freshFor - 1);
    equal(asked.length, 1);
    await clock.advance(1);
    equal(asked.length, 2);
    deepEqual(facts('Oslo'), known({ sky: 'grey' }), 'the last answer stands while a new one is on its way');
    await last(asked).answer({ sky: 'grey' });
    deepEqual(woken, ['a']);
    await clock.advance(freshFor);
    await last(asked).answer({ sky: 'blue' });
    deepEqual([facts('Oslo'), woken], [known({ sky: 'blue' }), ['a', 'a']]);
  });

  test('that stays the same is asked for more and more seldom, until it changes', async () => {
    const { facts, asked, clock } = gathering({ slowsTo: 5 * freshFor });
    const wait = async (answer: string) => {
      await last(asked).answer(answer);
      const [before, since] = [asked.length, clock.monotonic()];
      while (asked.length === before) await clock.advance(freshFor);
      return (clock.monotonic() - since) / freshFor;
    };
    facts('Oslo');
    const waits = [];
    for (let rested = 0; rested < 120; rested += waits.at(-1) ?? 0) waits.push(await wait('snow'));
    ok(
      waits.slice(0, 20).every((one) => one === 1),
      'what is new may still change',
    );
    deepEqual(
      waits,
      waits.toSorted((one, other) => one - other),
      'then after a twentieth of the time that it has been so',
    );
    equal(waits.at(-1), 5, 'but never more seldom than asked');
    await last(asked).fail(new Error('no line'));
    await clock.advance(backoff.first);
    equal(await wait('snow'), 5, 'a failure in between is no change');
    equal(await wait('sun'), 1, 'it has changed');
    facts('Rome');
    equal(await wait('sun'), 1, 'other inputs begin anew');
  });

  test('that cannot change is asked for once', async () => {
    const { facts, asked, clock } = gathering({ fresh: Infinity });
    facts('Oslo');
    await last(asked).answer('a city');
    equal(clock.timers, 0);
  });

  test('is asked for until its answer is the last one', async () => {
    const { facts, asked, woken, clock } = gathering({ isFinal: (value) => value === 'spring' });
    facts('Oslo');
    for (const sky of ['snow', 'snow', 'spring']) {
      await last(asked).answer(sky);
      await clock.advance(freshFor);
    }
    deepEqual([facts('Oslo'), asked.length, clock.timers], [known('spring'), 3, 0]);
    deepEqual(woken, ['a', 'a']);
  });

  test('of other inputs is another fact: the old answer is void, and its question is given up', async () => {
    const { facts, asked, woken } = gathering();
    facts('Oslo');
    deepEqual(facts('Rome'), { state: 'pending' });
    const [oslo, rome] = asked;
    equal(oslo?.signal.aborted, true);
    await oslo?.answer('snow');
    deepEqual([facts('Rome'), woken], [{ state: 'pending' }, []]);
    await rome?.answer('sun');
    deepEqual([facts('Rome'), woken], [known('sun'), ['a']]);
  });

  test('of the same inputs in another order is the same', () => {
    const { facts, asked } = gathering();
    facts({ city: 'Oslo', day: 1 });
    facts({ day: 1, city: 'Oslo' });
    equal(asked.length, 1);
  });

  test('that is not needed any more is given up, and asked afresh when it is needed again', async () => {
    const { facts, asked, clock } = gathering();
    facts('Oslo');
    await last(asked).answer('snow');
    deepEqual(facts(undefined), { state: 'unneeded' });
    await clock.advance(freshFor * 2);
    equal(asked.length, 1);
    deepEqual(facts('Oslo'), { state: 'pending' });
    equal(asked.length, 2);
  });
});

describe('a fact that cannot be had', () => {
  test('says why, wakes once, and is asked for again with growing patience', async () => {
    const { facts, asked, woken, clock } = gathering();
    facts('Oslo');
    await last(asked).fail(new Error('no road'));
    deepEqual([facts('Oslo'), woken], [{ state: 'failed', why: 'no road' }, ['a']]);
    for (const wait of [1_000, 2_000, 4_000, 8_000, 8_000]) {
      const before = asked.length;
      await clock.advance(wait - 1);
      equal(asked.length, before);
      await clock.advance(1);
      equal(asked.length, before + 1, `after ${wait} ms`);
      await last(asked).fail(new Error('no road'));
    }
    deepEqual(woken, ['a'], 'the same failure is no news');
  });

  test('wakes once more when it has failed so often that it lasts, and is still asked for', async () => {
    const { facts, asked, woken, clock } = gathering();
    facts('Oslo');
    for (let failure = 1; failure < 7; failure++) {
      await last(asked).fail(new Error('no road'));
      await clock.advance(8_000);
    }
    deepEqual([facts('Oslo'), woken], [{ state: 'failed', why: 'no road' }, ['a']]);
    await last(asked).fail(new Error('no road'));
    deepEqual([facts('Oslo'), woken], [{ state: 'failed', why: 'no road', lasting: true }, ['a', 'a']]);
    await clock.advance(8_000);
    await last(asked).answer('snow');
    deepEqual(facts('Oslo'), known('snow'));
  });

  test('is forgiven by an answer', async () => {
    const { facts, asked, woken, clock } = gathering();
    facts('Oslo');
    await last(asked).fail(new Error('no road'));
    await clock.advance(1_000);
    await last(asked).answer('snow');
    deepEqual([facts('Oslo'), woken], [known('snow'), ['a', 'a']]);
    await clock.advance(freshFor);
    await last(asked).fail(new Error('no road'));
    await clock.advance(1_000);
    equal(asked.length, 4, 'patience begins anew');
  });

  test('once known keeps its last value while nobody can be asked', async () => {
    const { facts, asked, woken, clock } = gathering();
    facts('Oslo');
    await last(asked).answer('snow');
    await clock.advance(freshFor);
    await last(asked).fail(new Error('no road'));
    deepEqual([facts('Oslo'), woken], [known('snow'), ['a']]);
  });

  test('because what came is no JSON is a failure of that fact alone', async () => {
    const { facts, asked } = gathering();
    facts('Oslo');
    await last(asked).answer(1n);
    equal(facts('Oslo')?.state, 'failed');
  });

  test('says so too when what was thrown is no Error', async () => {
    const { facts, asked } = gathering();
    facts('Oslo');
    await last(asked).fail('no road');
    deepEqual(facts('Oslo'), { state: 'failed', why: 'no road' });
  });
});

describe('all objects together', () => {
  test('ask only so many questions at once; the others wait their turn', async () => {
    const { facts, asked } = gathering({ parallel: 2 });
    for (const key of ['a', 'b', 'c', 'd']) facts('Oslo', key);
    equal(asked.length, 2);
    await asked[0]?.fail(new Error('no road'));
    equal(asked.length, 3);
    await asked[1]?.answer('snow');
    equal(asked.length, 4);
  });

  test('do not wait for a question that was given up before its turn', async () => {
    const { facts, asked, gatherer } = gathering({ parallel: 1 });
    for (const key of ['a', 'b', 'c']) facts('Oslo', key);
    gatherer.forget('b');
    await asked[0]?.answer('snow');
    equal(asked.length, 2);
    await asked[1]?.answer('snow');
    equal(asked.length, 2);
  });

  test('take turns where a fact may be asked for only so often', async () => {
    const { facts, asked, clock } = gathering({ parallel: 9, perSecond: 4 });
    for (const key of ['a', 'b', 'c', 'd']) facts('Oslo', key);
    for (const count of [1, 2, 3, 4]) {
      equal(asked.length, count);
      await clock.advance(250);
    }
  });

  test('are not asked for while they are needed only for a moment', async () => {
    const { facts, asked, clock } = gathering({ after: 2_000 });
    deepEqual(facts('Oslo'), { state: 'pending' });
    await clock.advance(1_900);
    facts(undefined);
    await clock.advance(2_000);
    equal(asked.length, 0);
    facts('Rome');
    await clock.advance(2_000);
    deepEqual(
      asked.map(({ inputs }) => inputs),
      ['Rome'],
    );
  });

  test('leave time between answers that are dear, but not more than a second', async () => {
    for (const [took, pause] of [
      [50, 450],
      [300, 1_000],
    ] as const) {
      const { facts, asked, clock } = gathering({ share: 0.1 });
      facts('Oslo', 'a');
      await clock.advance(took);
      await last(asked).answer('snow');
      facts('Rome', 'b');
      await clock.advance(pause - 50);
      equal(asked.length, 1);
      await clock.advance(100);
      equal(asked.length, 2);
    }
  });

  test('ask one by one where an answer is dear, whatever becomes of the question', async () => {
    const { facts, asked, clock } = gathering({ share: 0.1 });
    for (const key of ['a', 'b', 'c']) facts('Oslo', key);
    await clock.advance(5_000);
    equal(asked.length, 1);
    facts('Rome', 'a');
    await settle();
    await clock.advance(1_100);
    equal(asked.length, 2, 'one that was given up lets the next one go');
  });

  test('are asked for the first time before others are asked for again', async () => {
    const { facts, asked, clock } = gathering({ perSecond: 1, fresh: 4_000 });
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) facts('Oslo', key);
    for (let second = 0; second < 6; second++) {
      await last(asked).answer('snow');
      await clock.advance(1_000);
    }
    facts('Rome', 'newcomer');
    await clock.advance(1_000);
    equal(last(asked).inputs, 'Rome');
  });

  test('do not wait for somebody else’s next turn', async () => {
    const { facts, asked, clock } = gathering({ perSecond: 4, fresh: 600_000 });
    facts('Oslo', 'a');
    await last(asked).answer('snow');
    await clock.advance(1_000);
    facts('Rome', 'b');
    equal(asked.length, 2);
    await last(asked).answer('sun');
    await clock.advance(600_000);
    equal(asked.length, 4, 'and both are asked again in time');
  });

  test('each keep their own answers', async () => {
    const { facts, asked, woken } = gathering();
    facts('Oslo', 'a');
    facts('Oslo', 'b');
    await asked[1]?.answer('snow');
    deepEqual([facts('Oslo', 'a'), facts('Oslo', 'b'), woken], [{ state: 'pending' }, known('snow'), ['b']]);
  });
});

describe('an object that is gone', () => {
  test('is never woken, and leaves neither a question nor a timer', async () => {
    const { facts, asked, woken, gatherer, clock } = gathering();
    facts('Oslo', 'a');
    facts('Rome', 'b');
    await asked[1]?.answer('sun');
    gatherer.forget('a');
    gatherer.forget('b');
    ok(asked[0]?.signal.aborted);
    await asked[0]?.answer('snow');
    deepEqual([woken, clock.timers], [['b'], 0]);
  });

  test('close gives up everything', async () => {
    const { facts, asked, gatherer, clock } = gathering();
    facts('Oslo', 'a');
    facts('Rome', 'b');
    await asked[1]?.answer('sun');
    gatherer.close();
    equal(asked[0]?.signal.aborted, true);
    equal(clock.timers, 0);
  });
});

describe('a fetch that hangs', () => {
  test('has failed after half a minute, and its place is free for others', async () => {
    const { facts, clock, asked } = gathering({ parallel: 1 });
    facts('never answers', 'a');
    facts('answers', 'b');
    equal(asked.length, 1);
    await clock.advance(30_000);
    deepEqual(facts('never answers', 'a'), { state: 'failed', why: 'there was no answer within 30 s' });
    await last(asked).answer('sunny');
    deepEqual(facts('answers', 'b'), known('sunny'));
  });

  test('for an object that is gone gives its place back at once', async () => {
    const { facts, gatherer, asked } = gathering({ parallel: 1 });
    facts('never answers', 'a');
    facts('answers', 'b');
    gatherer.forget('a');
    await settle();
    equal(asked.length, 2);
  });
});
