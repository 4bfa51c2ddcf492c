// The rows of bad inputs and faults, each in three forms: by itself, with a crash of the operator after every write, and
// beside twenty models that serve and must not notice.

import { ok } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type ModelLane, openModelLane } from '../kit/models.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';
import { crashAlways, type Form, openScene, type Row, rows } from './rows/index.ts';
import { type Neighbours, settleNeighbours } from './rows/neighbours.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, product)));
after(() => rig.stop());

/** Plays a row on a lane. One that fails tells what the operator logged. */
async function play(row: Row, lane: ModelLane, name: string, form: Form): Promise<void> {
  const scene = await openScene(lane, name, form);
  try {
    await row.play(scene);
  } catch (error) {
    const log = await lane.operator
      .current()
      .then((running) => running.log().split('\n').slice(-30).join('\n'), String);
    throw new Error(`in ${lane.namespace}; the operator's log:\n${log}`, { cause: error });
  } finally {
    scene.witness.stop();
  }
}

async function onLane(run: (lane: ModelLane) => Promise<void>): Promise<void> {
  const lane = await openModelLane(rig);
  try {
    await run(lane);
  } finally {
    lane.proxy.clearPlan();
    await pause(500); // a crash that was under way has happened
    await lane.close();
  }
}

describe('a row, alone', { concurrency: 4 }, () => {
  for (const row of rows) test(row.name, () => onLane((lane) => play(row, lane, 'iris', 'alone')));
});

describe('a row, with a crash after every write', { concurrency: 4 }, () => {
  for (const row of rows)
    test(row.name, (t) =>
      onLane(async (lane) => {
        lane.proxy.setPlan(crashAlways, lane.operator);
        await play(row, lane, 'iris', 'crashing');
        t.diagnostic(`${lane.operator.restarts()} crashes`);
        ok(lane.operator.restarts() > 0);
      }),
    );
});

describe('a row, beside twenty models that serve', { concurrency: 4 }, () => {
  let lane: ModelLane;
  let neighbours: Neighbours;
  before(async () => {
    lane = await openModelLane(rig);
    neighbours = await settleNeighbours(lane, 20);
  });
  after(() => lane.close());
  for (const [index, row] of rows.entries())
    test(row.name, async () => {
      await play(row, lane, `row${index}`, 'beside');
      await neighbours.undisturbed();
    });
});
