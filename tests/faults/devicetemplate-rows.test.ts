// The rows of bad inputs and faults that are about devices: alone, with a crash after every write, and beside healthy ones.

import { after, before, describe, test } from 'node:test';
import { devicetemplate } from '../kit/devicelife.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { deviceRows, healthy, nodes } from './kinds/devices.ts';
import { forms, play } from './kinds/scene.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: nodes.length + 1 }, devicetemplate.installed)));
after(() => rig.stop());

for (const form of forms)
  describe(`a row, ${form}`, () => {
    for (const row of deviceRows) test(row.name, (t) => play(rig, row, { subject: devicetemplate, healthy }, form, t));
  });
