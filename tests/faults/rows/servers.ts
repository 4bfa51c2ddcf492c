// Servers that do not start, or do not stay. Whatever becomes of the new ones, the old ones go on.

import { doesNotMatch, equal } from 'node:assert/strict';
import { mark } from '../../../src/api/index.ts';
import { Deployment } from '../../../src/objects/index.ts';
import type { Trouble } from './means.ts';
import type { Row, Scene } from './scene.ts';
import { neverWentDark } from './words.ts';

const noSuchImage: Row = {
  name: '14: an image that is missing, private, of another architecture or for another CPU is told, and the old servers go on',
  async play(scene) {
    await scene.model();
    const first = await scene.ready();
    for (const trouble of scene.means.images) await troubled(scene, trouble, first.status?.servingRevision);
    await scene.model();
    equal((await scene.ready()).status?.servingRevision, first.status?.servingRevision);
    await neverWentDark(scene);
  },
};

/** Rolls out what cannot serve: it is told why, and what served goes on, with nothing undone by itself. */
async function troubled(scene: Scene, { own, reason, words }: Trouble, serving: string | undefined): Promise<void> {
  await scene.model({ ...own, ...deadline });
  await scene.holds('Ready', { status: 'False', reason });
  const { status } = await scene.says(words);
  equal(status?.servingRevision, serving);
  const [running] = await scene.own(Deployment);
  equal(running?.metadata.annotations?.[mark.revision], status?.revision, 'nobody goes back unasked');
}

const deadline = { rollout: { progressDeadlineSeconds: 30 } };

const noSuchServer: Row = {
  name: '15: a server that crashes, takes too much memory or never gets ready is told so, and at the deadline that it will not',
  async play(scene) {
    await scene.model(deadline);
    const first = await scene.ready();
    for (const trouble of scene.means.endings) {
      await troubled(scene, trouble, first.status?.servingRevision);
      doesNotMatch(JSON.stringify((await scene.get()).status), /hunter|c2ln/);
      await scene.holds('Reconciling', { status: 'True' });
    }
    await scene.holds('Stalled', { status: 'True', reason: 'NotReady' });
    await scene.holds('Reconciling', { status: 'False' });
    await scene.says(new RegExp(`(?:${scene.means.endings.at(-1)?.words.source}).*revision \\w+ serves`));
    await scene.model(deadline);
    equal((await scene.ready()).status?.servingRevision, first.status?.servingRevision);
    await neverWentDark(scene);
  },
};

export const serverRows: Row[] = [noSuchImage, noSuchServer];
