// The causes of failure once more on a real node, in the words of the real kubelet, scheduler and runtime: told within five
// seconds of their own report. With `RECORD` set their words are kept for the tests of the judges.

import { after, before, describe, suite, test } from 'node:test';
import { skipReason } from '../../controlplane/node/index.ts';
import { play } from '../cluster/causes/play.ts';
import { downloadCases } from './causes/downloads.ts';
import { imageCases } from './causes/images.ts';
import { keep } from './causes/record.ts';
import { serverCases } from './causes/servers.ts';
import { type Ground, openGround } from './ground.ts';

suite('a cause on a real node', { skip: await skipReason() }, () => {
  let ground: Ground;
  before(async () => {
    ground = await openGround();
    await ground.rig.operator(ground.operatorOptions);
  });
  after(() => ground?.[Symbol.asyncDispose]());

  describe('is told within five seconds of the report', { concurrency: 6 }, () => {
    for (const one of [...serverCases, ...imageCases, ...downloadCases])
      test(one.name, async (t) => {
        const place = await play(ground.rig, t, { ...one, own: one.own(ground) }, ground.mounted);
        if (process.env['RECORD']) keep(one.recorded, place);
      });
  });
});
