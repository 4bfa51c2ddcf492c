// The rows of bad inputs and faults, with a crash of the operator after every write.

import { ok } from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { product, type Rig, startRig } from '../kit/rig.ts';
import { crashAlways, eachRow, onModelLane, play } from './rows/index.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, product)));
after(() => rig.stop());

describe('a row, with a crash after every write', () => {
  eachRow(3, (row, t) =>
    onModelLane(rig, async (lane) => {
      lane.proxy.setPlan(crashAlways, lane.operator);
      await play(row, lane, 'iris', { form: 'crashing' });
      t.diagnostic(`${lane.operator.restarts()} crashes`);
      ok(lane.operator.restarts() > 0);
    }),
  );
});
