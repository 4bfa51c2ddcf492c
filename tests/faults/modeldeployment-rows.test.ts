// The rows of bad inputs and faults that are about ModelDeployments: alone, with a crash after every write, and beside healthy ones.

import { after, before, describe, test } from 'node:test';
import { deploymentSubject } from '../kit/deploymentlife.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { deploymentRows, healthy } from './kinds/deployments.ts';
import { forms, play } from './kinds/scene.ts';

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

for (const form of forms)
  describe(`a row, ${form}`, () => {
    for (const row of deploymentRows)
      test(row.name, (t) => play(rig, row, { subject: life.subject, healthy }, form, t));
  });
