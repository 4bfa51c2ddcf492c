// A crash after every write of a ModelDeployment's life.

import { after, before, test } from 'node:test';
import { crashAfterEveryWrite, lanes } from '../kit/crash.ts';
import { deploymentSubject } from '../kit/deploymentlife.ts';
import { type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
let life: Awaited<ReturnType<typeof deploymentSubject>>;
before(async () => {
  life = await deploymentSubject();
  rig = await startRig({ nodes: 1 }, life.subject.installed);
});
after(async () => {
  await rig.stop();
  await life.stop();
});

test('a crash after every write', { concurrency: lanes, timeout: 14 * 60_000 }, (t) =>
  crashAfterEveryWrite({ rig, subject: life.subject, t }, { pairs: 0.02 }),
);
