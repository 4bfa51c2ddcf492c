import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CommonStatus, Condition } from '../objects/index.ts';
import { leavingStatus, refusedStatus, sameStatus, settled, withSetback } from './status.ts';

const noon = '2026-05-01T12:00:00Z';
const now = Date.parse(noon);
const ready = (status: Condition['status'], more: Partial<Condition> = {}): Condition => ({
  type: 'Ready',
  status,
  reason: 'Why',
  message: 'words',
  ...more,
});

/** The transition time of Ready after a pass at noon. */
const moved = (after: Condition, before?: Condition, at = now) =>
  settled({ conditions: [after] }, before && { conditions: [before] }, at).conditions?.[0]?.lastTransitionTime;

const cases: { name: string; after: Condition; before?: Condition; time: string }[] = [
  { name: 'a first word is said now', after: ready('False'), time: noon },
  {
    name: 'the same status keeps its time',
    after: ready('True'),
    before: ready('True', { lastTransitionTime: '2026-04-01T00:00:00Z' }),
    time: '2026-04-01T00:00:00Z',
  },
  {
    name: 'another reason, message or generation is no transition',
    after: ready('True', { reason: 'Else', message: 'other words', observedGeneration: 2 }),
    before: ready('True', { lastTransitionTime: '2026-04-01T00:00:00Z', observedGeneration: 1 }),
    time: '2026-04-01T00:00:00Z',
  },
  {
    name: 'another status is a transition',
    after: ready('False'),
    before: ready('True', { lastTransitionTime: '2026-04-01T00:00:00Z' }),
    time: noon,
  },
  {
    name: 'a former word without a time gets one',
    after: ready('True'),
    before: ready('True'),
    time: noon,
  },
  {
    name: 'a wall clock that jumped back does not take the time back',
    after: ready('False'),
    before: ready('True', { lastTransitionTime: '2026-05-01T13:00:00Z' }),
    time: '2026-05-01T13:00:00Z',
  },
  {
    name: 'a time that the decision brought along does not count',
    after: ready('False', { lastTransitionTime: '1999-01-01T00:00:00Z' }),
    before: ready('True', { lastTransitionTime: '2026-04-01T00:00:00Z' }),
    time: noon,
  },
];

describe('transition times', () => {
  for (const { name, after, before, time } of cases) test(name, () => equal(moved(after, before), time));

  test('each condition has its own', () => {
    const before = {
      conditions: [
        ready('True', { lastTransitionTime: '2026-04-01T00:00:00Z' }),
        ready('True', { type: 'Stalled', lastTransitionTime: '2026-04-02T00:00:00Z' }),
      ],
    };
    const after = settled({ conditions: [ready('False', { type: 'Stalled' }), ready('True')] }, before, now);
    deepEqual(
      after.conditions?.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
      [
        ['Stalled', noon],
        ['Ready', '2026-04-01T00:00:00Z'],
      ],
    );
  });

  test('never go back, whatever the wall clock does', () => {
    const step = fc.record({
      status: fc.constantFrom('True', 'False', 'Unknown'),
      at: fc.integer({ min: 0, max: 4e12 }),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let held: CommonStatus | undefined;
        for (const { status, at } of steps) {
          const before = held?.conditions?.[0]?.lastTransitionTime ?? '';
          held = settled({ conditions: [ready(status)] }, held, at);
          ok((held.conditions?.[0]?.lastTransitionTime ?? '') >= before);
        }
      }),
    );
  });
});

describe('messages', () => {
  const said = (message: string) => settled({ message, conditions: [ready('True', { message })] }, undefined, now);

  test('of a thousand characters stay', () => {
    const { message, conditions } = said('x'.repeat(1_000));
    deepEqual([message, conditions?.[0]?.message], ['x'.repeat(1_000), 'x'.repeat(1_000)]);
  });

  test('that are longer are cut, in the status and in each condition', () => {
    const { message, conditions } = said('x'.repeat(1_001));
    deepEqual([message, conditions?.[0]?.message], [`${'x'.repeat(999)}…`, `${'x'.repeat(999)}…`]);
  });

  test('are whole characters, because the server would mend a half one and never equal us again', () => {
    equal(said(`${'x'.repeat(998)}😀y`).message, `${'x'.repeat(998)}\uFFFD…`);
    equal(said('a\uD800b').message, 'a\uFFFDb');
  });

  test('that are not said stay away', () => ok(!('message' in settled({ phase: 'New' }, undefined, now))));
});

describe('whether a status says anything new', () => {
  const ours = ['Ready', 'Stalled'];
  const at = (condition: Condition) => ({ ...condition, lastTransitionTime: noon });
  const held = {
    phase: 'Up',
    observedGeneration: 1,
    conditions: [at(ready('True')), at(ready('False', { type: 'Stalled' }))],
  };
  const rows: { name: string; next: CommonStatus; same: boolean }[] = [
    { name: 'the same', next: structuredClone(held), same: true },
    { name: 'conditions in another order', next: { ...held, conditions: held.conditions.toReversed() }, same: true },
    { name: 'another phase', next: { ...held, phase: 'Down' }, same: false },
    { name: 'another generation', next: { ...held, observedGeneration: 2 }, same: false },
    { name: 'a message more', next: { ...held, message: 'words' }, same: false },
    { name: 'a condition less', next: { ...held, conditions: held.conditions.slice(1) }, same: false },
    {
      name: 'a condition with other words',
      next: { ...held, conditions: [at(ready('True', { message: 'other' })), ...held.conditions.slice(1)] },
      same: false,
    },
  ];
  for (const { name, next, same } of rows)
    test(`${name}: ${same ? 'nothing' : 'something'} new`, () => equal(sameStatus(next, held, ours), same));

  test("somebody else's condition is no news of ours", () => {
    const theirs = { ...held, conditions: [...held.conditions, at(ready('True', { type: 'Audited' }))] };
    ok(sameStatus(held, theirs, ours));
  });

  test('a first status always does', () => ok(!sameStatus({}, undefined, ours)));
});

describe('a refused pass', () => {
  const refusal = { reason: 'QuotaExceeded', message: 'no more' };
  const verdicts = (status: CommonStatus) =>
    refusedStatus(status, refusal).conditions?.map(({ type, status: value, reason }) => `${type}=${value}/${reason}`);

  test('is stalled, not ready and not going on, for the reason of the refusal', () =>
    deepEqual(verdicts({ conditions: [ready('True')] }), [
      'Ready=False/QuotaExceeded',
      'Reconciling=False/QuotaExceeded',
      'Stalled=True/QuotaExceeded',
    ]));

  test('keeps what else was found out', () =>
    deepEqual(verdicts({ conditions: [ready('True', { type: 'Downloaded' })] })?.at(-1), 'Downloaded=True/Why'));

  test('speaks of the generation that was looked at', () => {
    const { observedGeneration, conditions, message } = refusedStatus({ observedGeneration: 7 }, refusal);
    deepEqual(
      [observedGeneration, conditions?.map((one) => one.observedGeneration), message],
      [7, [7, 7, 7], 'no more'],
    );
  });

  test('has the phase that the kind has a word for', () => {
    equal(refusedStatus({ phase: 'Loading' }, { ...refusal, phase: 'Failed' }).phase, 'Failed');
    equal(refusedStatus({ phase: 'Loading' }, refusal).phase, 'Loading');
  });

  test('says what works nevertheless, also when it is told again', () => {
    const available = ready('True', { type: 'Available', message: '1 server answers' });
    const first = refusedStatus({ conditions: [available] }, { ...refusal, message: 'x'.repeat(5_000) });
    ok(first.message?.endsWith('…; 1 server answers') && first.message.length < 1_000);
    const again = refusedStatus(refusedStatus({ conditions: [available] }, refusal), refusal);
    equal(again.message, 'no more; 1 server answers');
  });

  test('leaves no stage behind that still tells of the work', () => {
    const going = { message: 'it is being loaded' };
    const stages = [
      ready('False', going),
      ready('False', { type: 'Serving', ...going }),
      ready('True', { type: 'Stored', ...going }),
      ready('False', { type: 'Exposed', message: 'nobody asked' }),
    ];
    deepEqual(
      refusedStatus({ conditions: stages }, refusal)
        .conditions?.slice(3)
        .map(({ type, message }) => `${type}: ${message}`),
      ['Serving: no more', 'Stored: it is being loaded', 'Exposed: nobody asked'],
    );
  });
});

test('what is being deleted is not ready for that reason, and keeps its other words', () => {
  const shown = ready('True', { type: 'Shown' });
  const status = { observedGeneration: 8, phase: 'Open', message: 'open', conditions: [shown, ready('True')] };
  const leaving = { phase: 'Closing', message: 'Is being deleted' };
  const told = { ...ready('False'), reason: 'Closing', message: 'Is being deleted', observedGeneration: 8 };
  deepEqual(leavingStatus(status, 'Closing'), { ...status, ...leaving, conditions: [shown, told] });
});

describe('a refusal apart from Ready', () => {
  const refusal = { reason: 'QuotaExceeded', message: 'no more' };
  const shown = (status: 'True' | 'False') => ready(status, { type: 'Shown', message: 'it is shown in the window' });

  test('is told by its own condition, and by no other word of the status', () => {
    const status = {
      observedGeneration: 7,
      phase: 'Open',
      message: 'open',
      conditions: [shown('False'), ready('True')],
    };
    const told = { type: 'Shown', status: 'False', ...refusal, observedGeneration: 7 };
    deepEqual(withSetback(status, 'Shown', refusal), { ...status, conditions: [told, ready('True')] });
    deepEqual(withSetback({ observedGeneration: 7 }, 'Shown', refusal).conditions, [told]);
  });

  test('says what holds nevertheless', () => {
    const { conditions } = withSetback({ conditions: [shown('True')] }, 'Shown', refusal);
    deepEqual(
      conditions?.map(({ status, message }) => [status, message]),
      [['False', 'no more; it is shown in the window']],
    );
  });
});
