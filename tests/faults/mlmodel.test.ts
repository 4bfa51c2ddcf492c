// The rows of bad inputs and faults, by themselves and beside twenty models that serve and must not notice. The third form,
// with a crash after every write, has a file of its own.

import { after, before, describe } from 'node:test';
import { type ModelLane, openModelLane } from '../kit/models.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';
import { eachRow, onModelLane, play } from './rows/index.ts';
import { type Neighbours, settleNeighbours } from './rows/neighbours.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, product)));
after(() => rig.stop());

describe('a row, alone', () => {
  eachRow(4, (row) => onModelLane(rig, (lane) => play(row, lane, 'iris', { form: 'alone' })));
});

describe('a row, beside twenty models that serve', () => {
  let lane: ModelLane;
  let neighbours: Neighbours;
  before(async () => {
    lane = await openModelLane(rig);
    neighbours = await settleNeighbours(lane, 20);
  });
  after(() => lane.close());
  let played = 0;
  eachRow(4, async (row) => {
    await play(row, lane, `row-${++played}`, { form: 'beside' });
    await neighbours.undisturbed();
  });
});
