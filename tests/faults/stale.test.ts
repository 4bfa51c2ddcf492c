// Trios in a world that moves while the operator looks at an old picture of it, and in one that moved and moved back before
// it looked.

import { deepEqual } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigMap, Job } from '../../src/objects/index.ts';
import { eventually } from '../kit/eventually.ts';
import {
  calm,
  deletions,
  endedUnseen,
  goneAndBack,
  lagging,
  livesWithLateNews,
  replacedByNamesake,
  replacedByStranger,
  restoredFromBackup,
  takenBackUnseen,
  unseen,
} from '../kit/pictures.ts';
import { type Rig, startRig } from '../kit/rig.ts';
import { ask, becomesReady, type Lane, name, onLane, writesSince } from '../kit/lane.ts';
import { plain, trio } from '../kit/trio/life.ts';

let rig: Rig;
before(async () => void (rig = await startRig()));
after(() => rig.stop());

const spec = { text: 'hello', withJob: false };
const edit = { ...spec, text: 'edited' };
const slow = { text: 'hello', jobAnnotations: { 'sim.baton.dev/run-for': '3s' } };

const story = (run: (lane: Lane) => Promise<void>) => () => onLane(rig, plain, run);

describe('an old picture', { concurrency: 4 }, () => {
  test(
    'pitfall 10: a child was replaced by a stranger’s: it is not touched',
    story(async (lane) => {
      await calm(lane, spec);
      const metadata = { name: `${name}-config` };
      const stranger = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'theirs' } };
      await replacedByStranger(lane, ConfigMap, { stranger, edit });
    }),
  );

  test(
    'the object was replaced by one of the same name: its children are its own',
    story(async (lane) => {
      await calm(lane, spec);
      await replacedByNamesake(lane, { spec: edit, propagation: 'Orphan' });
    }),
  );

  test(
    'the object was deleted: children that went with it are not made again',
    story(async (lane) => {
      const {
        rig: { admin },
        namespace,
        truth,
        proxy,
      } = lane;
      await calm(lane, spec);
      await unseen(lane, [trio.kind], async () => {
        await admin.delete(trio.kind, { namespace, name });
        await eventually(() => truth.get(ConfigMap, `${name}-config`) === undefined, { what: 'a child goes, too' });
        const gone = proxy.trace.mark();
        await pause(2_000);
        deepEqual(writesSince(lane, gone), [], 'the live look at the object held them back');
      });
    }),
  );

  test(
    'what an edit wants again is not deleted for the sake of the old wish',
    story(async (lane) => {
      const noted = () =>
        lane.truth.get(ConfigMap, `${name}-config`)?.metadata.annotations?.['test.baton.dev/result'] !== undefined;
      await ask(lane, slow);
      await eventually(() => lane.truth.get(Job, `${name}-job`), { what: 'the Job is there' });
      await unseen(lane, [trio.kind], async () => {
        await ask(lane, { ...slow, text: 'edited' });
        await eventually(noted, { what: 'the result is noted' });
        await pause(2_000);
        deepEqual(deletions(lane), [], 'the live look at the object held the deletion back');
      });
      await becomesReady(lane, name);
      await eventually(() => deletions(lane).length === 1, { what: 'the Job goes after all' });
    }),
  );
});

describe('what was never seen', { concurrency: 4 }, () => {
  test(
    'a Job that finished and was removed by somebody else: it runs once more, and no error remains',
    story((lane) => endedUnseen(lane, slow)),
  );

  test(
    'a child that was deleted and made anew by somebody else with our labels: it is taken back, not doubled',
    story(async (lane) => {
      await calm(lane, spec);
      await restoredFromBackup(lane, ConfigMap, {
        child: `${name}-config`,
        older: (held) => ({ ...held, data: { text: 'restored from a backup' } }),
        isMended: ({ data }) => data?.['text'] === 'hello',
      });
    }),
  );

  test(
    'servers that went and came back: nothing is written, and nothing flips',
    story(async (lane) => {
      await calm(lane, spec);
      await goneAndBack(lane);
    }),
  );

  test(
    'an edit that was taken back',
    story(async (lane) => {
      await calm(lane, spec);
      await takenBackUnseen(lane, { spec, edit });
    }),
  );
});

test('a life with late news of', { concurrency: 4 }, (t) => livesWithLateNews({ t, rig, subject: trio }));

test('pitfall 10: no read accepts an old picture: a server that lags is never believed', story(lagging));
