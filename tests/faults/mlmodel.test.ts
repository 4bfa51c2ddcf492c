// The rows of bad inputs and faults, each on a lane of its own.

import { after, before, describe, test } from 'node:test';
import { openModelLane, type ModelLane } from '../kit/models.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';
import { rows } from './rows.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, product)));
after(() => rig.stop());

async function onModelLane(run: (lane: ModelLane) => Promise<void>): Promise<void> {
  const lane = await openModelLane(rig);
  try {
    await run(lane);
  } catch (error) {
    const log = (await lane.operator.current()).log().split('\n').slice(-30).join('\n');
    throw new Error(`in ${lane.namespace}; the operator's log:\n${log}`, { cause: error });
  } finally {
    await lane.close();
  }
}

describe('a row', { concurrency: 4 }, () => {
  for (const { name, run } of rows) test(name, () => onModelLane(run));
});
