// The form of most rows: a model serves, its source is edited to one that is no good, that is told with its reason and the
// way out, and what serves goes on; then the input is mended, and the model is Ready with it.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mark } from '../../../src/api/index.ts';
import { KubeEvent } from '../../../src/objects/index.ts';
import type { Row, Scene } from '../../faults/rows/scene.ts';
import type { Ground } from '../ground.ts';
import { askMeanwhile } from '../iris.ts';

/** One bad input. */
export interface Bad {
  what: string;
  own(scene: Scene): object | Promise<object>;
  reason: string;
  words: RegExp;
  /** Mends the world, and tells what is then asked for; left out: only the old source helps. */
  mend?(scene: Scene): object | Promise<object>;
  /** What else must be true while it is told. */
  also?(scene: Scene): void | Promise<void>;
}

/** A row of a table of such inputs. */
export const badRow = (name: string, ground: () => Ground, bads: () => readonly Bad[]): Row => ({
  name,
  async play(scene) {
    await scene.model();
    const { status: first } = await scene.ready();
    const { cluster } = ground();
    const asker = askMeanwhile({ cluster, namespace: scene.namespace, name: scene.name });
    let serving = first?.servingRevision;
    try {
      for (const bad of bads()) serving = await tried(scene, bad, serving);
    } finally {
      const { asked, wrong } = await asker.stop();
      deepEqual(wrong, [], 'what served went on');
      ok(asked > 5, `it was asked ${asked} times`);
    }
    await scene.model();
    await scene.ready();
  },
});

/** Plays one input and tells what serves afterwards. */
async function tried(scene: Scene, bad: Bad, serving: string | undefined): Promise<string | undefined> {
  try {
    await scene.model(await bad.own(scene));
    await refused(scene, bad, serving);
    if (!bad.mend) return serving;
    const tries = (await scene.get()).metadata.annotations?.[mark.retry] ?? '0';
    await scene.model(await bad.mend(scene), { annotations: { [mark.retry]: `${Number(tries) + 1}` } });
    return (await scene.ready()).status?.servingRevision;
  } catch (error) {
    throw new Error(bad.what, { cause: error });
  }
}

/** It is said to whoever looks, in all places, and nothing else has changed. */
async function refused(scene: Scene, bad: Bad, serving: string | undefined): Promise<void> {
  const { reason, words } = bad;
  const { message } = await scene.holds('Stalled', { status: 'True', reason });
  match(message, words);
  match((await scene.holds('Downloaded', { status: 'False', reason })).message, words);
  const { status } = await scene.get();
  equal(status?.servingRevision, serving);
  match(status?.message ?? '', new RegExp(`revision ${serving} serves`));
  await bad.also?.(scene);
}

/** The Events about a model. */
export const eventsOf = async ({ rig, namespace, name }: Scene): Promise<string[]> =>
  (await rig.list(KubeEvent, namespace))
    .filter(({ involvedObject }) => involvedObject.kind === 'MLModel' && involvedObject.name === name)
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
