// A crash after every write of a Trio's life, cleanup outside the cluster included.

import { after, before, test } from 'node:test';
import { crashAfterEveryWrite, lanes } from '../kit/crash.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { trio } from '../kit/trio/life.ts';

let rig: Rig;
before(async () => void (rig = await startRig({ nodes: 1 }, trio.installed)));
after(() => rig.stop());

test('a crash after every write', { concurrency: lanes, timeout: 14 * 60_000 }, (t) =>
  crashAfterEveryWrite({ rig, subject: trio, t }, { pairs: 0.1 }),
);
