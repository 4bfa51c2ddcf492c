// Which plans are refused, and by which words.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkPlan } from './check.ts';
import type { Plan, Rule } from './plan.ts';

const good: Rule = { when: { request: {} }, do: { kind: 'hang' } };

/** A rule as a plan from outside may have it, unknown to the types. */
const refuses = (rule: object, message: RegExp) =>
  assert.throws(() => checkPlan([good, { ...good, ...rule }]), { name: 'TypeError', message });

describe('a rule that could never act is refused', () => {
  test('when its trigger never has what the action is about', () => {
    refuses({ when: { event: {} } }, /^rule 1: hang acts on one request/);
    refuses({ when: { all: [{ after: 1 }, { write: {} }] }, do: { kind: 'skip' } }, /^rule 1: skip acts on one event/);
  });

  test('when it counts to none', () => {
    refuses({ times: 0 }, /^rule 1: times of a rule must be a whole number above 0, and is 0/);
    refuses(
      { when: { request: {}, every: 0 } },
      /^rule 1: every of the request trigger must be a whole number above 0/,
    );
    refuses({ when: { any: [{ write: {}, nth: 0.5 }] } }, /^rule 1: nth of the write trigger must be a whole number/);
  });
});

describe('an unknown word is refused, with the known ones', () => {
  test('as an action', () => {
    refuses({ do: { kind: 'hangg' } }, /^rule 1: kind of do of a rule must be one of delay, .*and is "hangg"/);
    refuses({ do: {} }, /^rule 1: kind of do of a rule must be one of delay/);
    refuses({ do: { kind: 'toString' } }, /must be one of delay/);
  });

  test('in a filter, however deep', () => {
    const known = /^rule 1: request of the request trigger has no field "nmae"; the known ones are verb, .*name/;
    refuses({ when: { request: { nmae: 'a' } } }, known);
    refuses({ when: { all: [{ after: 1 }, { any: [{ request: { nmae: 'a' } }] }] } }, known);
    refuses({ when: { event: { verb: 'a' } } }, /event trigger has no field "verb"; the known ones are on, group/);
    refuses({ when: { event: { on: 'add' } } }, /must be one of create, update, delete, bookmark, and is "add"/);
    refuses(
      { when: { after: 1 }, do: { kind: 'reset', watches: { kind: 'Pod' } } },
      /watches of reset has no field "kind"/,
    );
  });

  test('as a trigger, and as a field of a rule or of an action', () => {
    refuses({ when: { reqest: {} } }, /^rule 1: when of a rule must have one of request, write, .* and has reqest/);
    refuses({ when: { request: {}, after: 5 } }, /the request trigger has no field "after"/);
    refuses({ time: 2 }, /^rule 1: a rule has no field "time"; the known ones are when, do, times/);
    refuses(
      { do: { kind: 'delay', milliseconds: 5 } },
      /delay has no field "milliseconds"; the known ones are kind, ms, at/,
    );
  });

  test('as a reason or another word of an action', () => {
    const known = /^rule 1: reason of status must be one of Unauthorized, .*Timeout, and is "Conflcit"/;
    refuses({ do: { kind: 'status', reason: 'Conflcit' } }, known);
    refuses({ do: { kind: 'status' } }, /reason of status must be one of/);
    refuses({ do: { kind: 'kill', at: 'answer' } }, /at of kill must be one of received, applied, delivered/);
    refuses({ do: { kind: 'drip', bytes: 0, ms: 1 } }, /bytes of drip must be a whole number above 0/);
  });
});

test('what the language knows is accepted', () => {
  const plan: Plan = [
    good,
    { when: { all: [{ event: {} }, { request: {} }] }, do: { kind: 'hang' } },
    { when: { after: 10 }, do: { kind: 'status', reason: 'Conflict', retryAfter: 1 }, times: 'always' },
    { when: { event: { on: 'update', field: { path: ['a'], after: null } } }, do: { kind: 'kill' }, times: 3 },
    { when: { write: { verb: ['create', 'patch'], name: '' }, nth: 2, every: 3 }, do: { kind: 'dropAfter' } },
    { when: { any: [{ after: 0 }] }, do: { kind: 'freeze', watches: { resource: 'pods' }, from: 'this' } },
  ];
  checkPlan(plan);
});
