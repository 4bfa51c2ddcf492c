// The rows of bad inputs and faults that are about devices: alone, with a crash after every write, and beside healthy ones.

import { after, before, describe, test } from 'node:test';
import { devicetemplate } from '../kit/devicelife.ts';
import { type DeviceRig, startDeviceRig } from '../kit/kmm/rig.ts';
import { deviceRows, healthy, nodes, plays } from './kinds/devices.ts';
import { forms, play } from './kinds/scene.ts';

let ground: DeviceRig;
before(async () => {
  ground = await startDeviceRig(nodes.length);
  plays(ground.rig, ground.kmm);
});
after(() => ground.stop());

const rows = { subject: devicetemplate, rows: deviceRows, healthy };
for (const form of forms)
  describe(`a row, ${form}`, () => {
    for (const row of deviceRows) test(row.name, (t) => play(ground.rig, row, rows, form, t));
  });
