// Every cause of failure is in the message within five seconds of its own report, with the conditions that the table of
// reasons asks for: what can go on by itself is on its way, what needs a person has stalled. Tools read it the same way.

import { after, before, describe, test } from 'node:test';
import { product, type Rig, startRig } from '../kit/rig.ts';
import { downloadCases } from './causes/downloads.ts';
import { play } from './causes/play.ts';
import { refusals } from './causes/refusals.ts';
import { serverCases } from './causes/servers.ts';

let rig: Rig;
before(async () => {
  rig = await startRig({ nodes: 1 }, product);
  await rig.operator();
});
after(() => rig.stop());

const spec = { modelURL: 'https://models.example/iris-1.onnx', storageSize: '1Gi', framework: 'onnx' };

describe('a cause is told within five seconds', { concurrency: 5 }, () => {
  for (const one of [...serverCases, ...downloadCases, ...refusals]) {
    test(one.name, async (t) => void (await play(rig, t, one, spec)));
  }
});
