// A crash after every write of a DeviceTemplate's life.

import { after, before, test } from 'node:test';
import { crashAfterEveryWrite, lanes } from '../kit/crash.ts';
import { devicetemplate } from '../kit/devicelife.ts';
import { type DeviceRig, startDeviceRig } from '../kit/kmm/rig.ts';

let ground: DeviceRig;
before(async () => void (ground = await startDeviceRig(1)));
after(() => ground.stop());

test('a crash after every write', { concurrency: lanes, timeout: 14 * 60_000 }, (t) =>
  crashAfterEveryWrite({ rig: ground.rig, subject: devicetemplate, t }, { pairs: 0.05 }),
);
