// Plays one row on a lane. A row that fails tells what the operator logged.

import { setTimeout as pause } from 'node:timers/promises';
import type { MainOptions } from '../../kit/main.ts';
import { type ModelLane, openModelLane } from '../../kit/models.ts';
import type { Rig } from '../../kit/rig.ts';
import { type Means, simulated } from './means.ts';
import { type Form, openScene, type Row } from './scene.ts';

/** Plays a row with a model of this name. */
export async function play(
  row: Row,
  lane: ModelLane,
  name: string,
  { form, means = simulated }: { form: Form; means?: Means },
): Promise<void> {
  const scene = await openScene(lane, name, form, means);
  try {
    await row.play(scene);
  } catch (error) {
    const log = await lane.operator
      .current()
      .then((running) => running.log().split('\n').slice(-30).join('\n'), String);
    throw new Error(`in ${lane.namespace}; the operator's log:\n${log}`, { cause: error });
  } finally {
    scene.witness.stop();
  }
}

/** Lends a lane of its own. */
export async function onModelLane(
  rig: Rig,
  run: (lane: ModelLane) => Promise<void>,
  options: Partial<MainOptions> = {},
): Promise<void> {
  const lane = await openModelLane(rig, options);
  try {
    await run(lane);
  } finally {
    lane.proxy.clearPlan();
    await pause(500); // a crash that was under way has happened
    await lane.close();
  }
}
