// Bad inputs on a real node, with the real downloader, server, kubelet and runtime: each is named with its way out, does no
// harm to what serves, and is over when it is mended. The numbers are those of the table that they come from.

import { after, before, describe, suite, test } from 'node:test';
import { skipReason } from '../../controlplane/node/index.ts';
import { onModelLane, play, serverRows, storageRows } from '../faults/rows/index.ts';
import { type Origin, startOrigin } from '../kit/origin.ts';
import { type Ground, openGround } from './ground.ts';
import { contentRows } from './rows/content.ts';
import { realMeans } from './rows/means.ts';
import { countPackets } from './rows/packets.ts';
import { sourceRows } from './rows/sources.ts';
import { urlRows } from './rows/urls.ts';

suite('a bad input on a real node', { skip: await skipReason() }, () => {
  let ground: Ground;
  let canary: Origin;
  before(async () => {
    ground = await openGround({ s3: 'yes' });
    const { cluster, things } = ground;
    canary = things.use(await startOrigin((_, response) => void response.end(), { address: cluster.machineAddress }));
    cluster.giveNames({
      'half.example': [cluster.machineAddress, '169.254.169.254'],
    });
    await countPackets(ground, ['169.254.0.0/16']);
  });
  after(() => ground?.[Symbol.asyncDispose]());

  const rows = [
    ...urlRows(
      () => ground,
      () => canary,
    ),
    ...sourceRows(() => ground),
    ...contentRows(() => ground),
    ...storageRows.filter(({ changesKind }) => !changesKind),
    ...serverRows,
  ];

  describe('is told, does no harm, and can be mended', { concurrency: 5 }, () => {
    for (const row of rows)
      test(row.name, () =>
        onModelLane(ground.rig, (lane) => play(row, lane, 'iris', { form: 'alone', means: realMeans(ground) }), {
          ...ground.operatorOptions,
          egressDeny: [canary.host],
        }),
      );
  });
});
