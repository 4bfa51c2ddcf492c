// The rows of bad inputs and faults, by themselves and beside twenty models that serve and must not notice. The third form,
// with a crash after every write, has a file of its own.

import { after, before, describe, test } from 'node:test';
import { type ModelLane, openModelLane } from '../kit/models.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';
import { onModelLane, play, rows } from './rows/index.ts';
import { type Neighbours, settleNeighbours } from './rows/neighbours.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, product)));
after(() => rig.stop());

describe('a row, alone', { concurrency: 4 }, () => {
  for (const row of rows) test(row.name, () => onModelLane(rig, (lane) => play(row, lane, 'iris', 'alone')));
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
