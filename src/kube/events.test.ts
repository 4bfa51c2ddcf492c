import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type CommonStatus, type Condition, kindOf } from '../objects/index.ts';
import { isNews, turnedBad, warningOf } from './events.ts';

/** A status in short: `Ready=False/Reason Stalled=True/Reason`. */
const status = (text: string): CommonStatus | undefined =>
  text === '' ? undefined : { conditions: text.split(' ').map(condition) };

function condition(text: string): Condition {
  const [, type = '', value = '', reason = ''] = /^(\w+)=(\w+)\/(\w+)$/.exec(text) ?? [];
  return { type, status: value as Condition['status'], reason, message: `because ${reason}` };
}

const cases: { name: string; before: string; after: string; bad?: string }[] = [
  { name: 'a first word that is good', before: '', after: 'Ready=True/Up Stalled=False/Up' },
  { name: 'a first word that is not ready yet', before: '', after: 'Ready=False/Starting Stalled=False/Starting' },
  { name: 'a first word that is stalled', before: '', after: 'Ready=False/Bad Stalled=True/Bad', bad: 'Bad' },
  { name: 'stalling', before: 'Stalled=False/Up', after: 'Stalled=True/Bad', bad: 'Bad' },
  { name: 'still stalled for the same reason', before: 'Stalled=True/Bad', after: 'Stalled=True/Bad' },
  { name: 'stalled for another reason', before: 'Stalled=True/Bad', after: 'Stalled=True/Worse', bad: 'Worse' },
  { name: 'the reason of a good word that changes', before: 'Stalled=False/A', after: 'Stalled=False/B' },
  { name: 'no longer stalled', before: 'Stalled=True/Bad', after: 'Stalled=False/Up Ready=True/Up' },
  { name: 'ready no more', before: 'Ready=True/Up', after: 'Ready=False/Down', bad: 'Down' },
  { name: 'not ready for another reason', before: 'Ready=False/A', after: 'Ready=False/B' },
  { name: 'ready, then unknown', before: 'Ready=True/Up', after: 'Ready=Unknown/Lost' },
  {
    name: 'ready no more and stalled: the stall is told',
    before: 'Ready=True/Up Stalled=False/Up',
    after: 'Ready=False/Down Stalled=True/Bad',
    bad: 'Bad',
  },
];

describe('what turned bad', () => {
  test('not ready after an edit: nothing', () => {
    const [before, after] = ['Ready=True/Up', 'Ready=False/Starting'].map(condition);
    ok(before && after);
    const seen = (generation: number, one: Condition) => ({ conditions: [{ ...one, observedGeneration: generation }] });
    equal(turnedBad(seen(1, before), seen(2, after)), undefined);
    equal(turnedBad(seen(2, before), seen(2, after))?.reason, 'Starting');
  });

  for (const { name, before, after, bad } of cases)
    test(`${name}: ${bad ?? 'nothing'}`, () => equal(turnedBad(status(before), status(after) ?? {})?.reason, bad));
});

test('what is refused apart is news when its condition said something else', () => {
  const [refused, other] = [{ reason: 'Refused' }, { reason: 'Other' }];
  for (const before of ['', 'Shown=True/Up', 'Shown=False/Waiting'])
    equal(isNews(status(before), 'Shown', refused), true);
  equal(isNews(status('Shown=False/Refused'), 'Shown', refused), false);
  equal(isNews(status('Shown=False/Refused'), 'Shown', other), true);
});

const Shop = kindOf('test.baton.dev/v1', 'Shop', 'shops');
const owner = (name: string, uid = '1-1') => ({
  object: { apiVersion: Shop.apiVersion, kind: Shop.kind, metadata: { name, namespace: 'street', uid } },
  kind: Shop,
  labelKind: 'Shop',
});
const what = { reason: 'Bad', message: 'it is bad' };
const nameOf = (...parts: Parameters<typeof warningOf>) => warningOf(...parts).metadata.name;

describe('the Event', () => {
  test('is about the object that the user wrote', () => {
    const event = warningOf(owner('corner'), what, Date.UTC(2026, 0, 2, 3, 4, 5, 678));
    deepEqual(event.involvedObject, {
      apiVersion: 'test.baton.dev/v1',
      kind: 'Shop',
      name: 'corner',
      namespace: 'street',
      uid: '1-1',
    });
    deepEqual(
      [event.type, event.reason, event.message, event.firstTimestamp, event.lastTimestamp, event.metadata.namespace],
      ['Warning', 'Bad', 'it is bad', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z', 'street'],
    );
  });

  test('has the same name whenever it says the same, by whichever operator', () =>
    equal(nameOf(owner('corner'), what, 1), nameOf(owner('corner'), { ...what }, 2)));

  test('has another name for another object, reason or message', () => {
    const name = nameOf(owner('corner'), what, 1);
    notEqual(nameOf(owner('corner', '2-2'), what, 1), name);
    notEqual(nameOf(owner('corner'), { ...what, reason: 'Worse' }, 1), name);
    notEqual(nameOf(owner('corner'), { ...what, message: 'it is worse' }, 1), name);
  });

  test('has a name that the server takes, however long the name of the object is', () => {
    const part = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$/);
    const given = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('.').slice(0, 253));
    fc.assert(
      fc.property(given, (name) => {
        const made = nameOf(owner(name), what, 1);
        match(made, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        ok(made.length <= 253);
      }),
      { numRuns: 500, examples: [[`${'a'.repeat(199)}-b`], [`${'a'.repeat(199)}.b`], [`${'a'.repeat(198)}--b`]] },
    );
  });

  test('is cut where the server would refuse it, and never within a character', () => {
    const { message } = warningOf(owner('corner'), { ...what, message: `${'x'.repeat(999)}😀` }, 1);
    equal(message, `${'x'.repeat(999)}\uFFFD`);
  });
});
