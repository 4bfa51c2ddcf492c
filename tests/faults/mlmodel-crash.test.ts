// A crash after every write of an MLModel's life.

import { after, before, test } from 'node:test';
import { crashAfterEveryWrite, lanes } from '../kit/crash.ts';
import { mlmodel } from '../kit/modellife.ts';
import { type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, mlmodel.installed)));
after(() => rig.stop());

test('a crash after every write', { concurrency: lanes, timeout: 14 * 60_000 }, (t) =>
  crashAfterEveryWrite({ rig, subject: mlmodel, t }, { pairs: 0.02 }),
);
