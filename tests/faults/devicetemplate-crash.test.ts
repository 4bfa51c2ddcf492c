// A crash after every write of a DeviceTemplate's life.

import { after, before, test } from 'node:test';
import { crashAfterEveryWrite, lanes } from '../kit/crash.ts';
import { devicetemplate } from '../kit/devicelife.ts';
import { type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, devicetemplate.installed)));
after(() => rig.stop());

test('a crash after every write', { concurrency: lanes, timeout: 14 * 60_000 }, (t) =>
  crashAfterEveryWrite({ rig, subject: devicetemplate, t }, { pairs: 0.05 }),
);
