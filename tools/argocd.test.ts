// The health script for Argo CD, run by a real Lua: on every state that a model's life leads through it says the same as
// kstatus, in Argo CD's words, and passes the message on.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MLModel } from '../src/api/index.ts';
import { conditionOf, type Kstatus, kstatusOf } from '../src/objects/index.ts';
import { anything } from '../tests/kit/cluster/events.ts';
import { nobody } from '../tests/kit/cluster/oracles.ts';
import { beginning, play, schedulesOf } from '../tests/kit/cluster/schedules.ts';
import { rest } from '../tests/kit/cluster/still.ts';
import { type Health, healthBy } from '../tests/kit/lua.ts';
import { aModel } from '../tests/kit/mlmodel.ts';

const script = readFileSync(join(import.meta.dirname, '../deploy/argocd/mlmodel-health.lua'), 'utf8');
const health = await healthBy(script);

const meant: Record<Exclude<Kstatus, 'Terminating'>, string> = {
  Current: 'Healthy',
  InProgress: 'Progressing',
  Failed: 'Degraded',
};

/** Every state that random lives lead through, one model for each phase and reason. */
function states(): MLModel[] {
  const found = new Map<string, MLModel>();
  const told = ({ model }: { model: MLModel }) => {
    const { status } = model;
    const words = ['Ready', 'Reconciling', 'Stalled'].map((type) => conditionOf(status, type));
    const key = [status?.phase, ...words.map((one) => `${one?.status} ${one?.reason}`)].join();
    found.set(key, found.get(key) ?? model);
  };
  const lives = fc.property(schedulesOf(anything), (schedule) => {
    const life = beginning(schedule, { ...nobody, told });
    play(life, schedule);
    rest(life);
  });
  fc.assert(lives, { numRuns: 1_000, seed: 20_261_116 });
  return [...found.values()];
}

test('every state of a model is as healthy as kstatus says, in the words of the model', async (t) => {
  const all = states();
  const seen = new Set<string>();
  for (const model of all) {
    const expected = kstatusOf(model);
    if (expected === 'Terminating') continue;
    const said = await health(model);
    const { phase } = model.status ?? {};
    equal(said.status, meant[expected], `${phase}: ${model.status?.message}`);
    ok(said.message !== '', `${phase} says nothing`);
    if (expected === 'Failed') equal(said.message, model.status?.message);
    seen.add(said.status);
  }
  deepEqual([...seen].toSorted(), ['Degraded', 'Healthy', 'Progressing']);
  ok(all.length > 30, `only ${all.length} states were found`);
  t.diagnostic(`${all.length} states`);
});

describe('what no operator has looked at', () => {
  const condition = (type: string, status: string, message = type) => ({ type, status, reason: type, message });
  const rows: [name: string, status: object | undefined, expected: Health['status']][] = [
    ['a model that is new', undefined, 'Progressing'],
    ['a status without conditions', { observedGeneration: 1 }, 'Progressing'],
    ['conditions of others alone', { conditions: [condition('Exposed', 'True')] }, 'Progressing'],
    [
      'an edit that nobody has seen',
      { observedGeneration: 0, conditions: [condition('Ready', 'True')] },
      'Progressing',
    ],
    ['stalled before the edit', { observedGeneration: 0, conditions: [condition('Stalled', 'True')] }, 'Progressing'],
    ['Ready by whomever', { conditions: [condition('Ready', 'True')] }, 'Healthy'],
    ['Ready unknown', { observedGeneration: 1, conditions: [condition('Ready', 'Unknown')] }, 'Progressing'],
    [
      'Ready and at work',
      { conditions: [condition('Ready', 'True'), condition('Reconciling', 'True')] },
      'Progressing',
    ],
    ['Ready and stalled', { conditions: [condition('Ready', 'True'), condition('Stalled', 'True')] }, 'Degraded'],
  ];
  for (const [name, status, expected] of rows)
    test(`${name}: ${expected}`, async () =>
      equal((await health({ ...aModel(), ...(status && { status }) })).status, expected));
});

test('the Lua of these tests has no more libraries than that of Argo CD', async () => {
  const ask = await healthBy(
    'return { status = type(string), message = type(math) .. type(os) .. type(io) .. type(ipairs) .. type(table) }',
  );
  deepEqual(await ask({}), { status: 'nil', message: 'nilnilnilfunctiontable' });
});
