// What several rows ask for: sources, simulated faults of one container, and what must have been true all the while.

import { deepEqual, ok } from 'node:assert/strict';
import { exitCode, type LastWord, MLModel, sayLastWord } from '../../../src/api/index.ts';
import { conditionOf, Deployment } from '../../../src/objects/index.ts';
import type { Sight } from '../../kit/witness.ts';
import type { Scene } from './scene.ts';

/** Another source than the first. */
export const other = { modelURL: 'https://models.example/iris-2.onnx' };

const sim = (container: string, notes: Record<string, string>) => ({
  podAnnotations: {
    'sim.baton.dev/container': container,
    ...Object.fromEntries(Object.entries(notes).map(([name, value]) => [`sim.baton.dev/${name}`, value])),
  },
});

/** What befalls the server of every pod. */
export const server = (notes: Record<string, string>) => sim('server', notes);

/** What befalls every download. */
export const download = (notes: Record<string, string>) => sim('download', notes);

/** A download that ends for good. */
export const verdict = (word: Extract<LastWord, { result: 'verdict' }>) =>
  download({ 'exit-code': String(exitCode.verdict), message: sayLastWord(word) });

/** Since it was Ready for the first time, something answered at every moment, and that was said. */
export async function neverWentDark(scene: Scene): Promise<void> {
  const { witness, name } = scene;
  const models = await sightsOf(scene);
  const begun = models.findIndex(({ object }) => conditionOf(object.status, 'Ready')?.status === 'True');
  ok(begun >= 0, 'it was Ready once');
  const since = models[begun]?.at ?? Infinity;
  const silent = models.slice(begun).filter(({ object }) => conditionOf(object.status, 'Available')?.status !== 'True');
  const empty = witness
    .of(Deployment)
    .filter(({ object, at }) => object.metadata.name === `${name}-server` && at > since)
    .filter(({ type, object }) => type === 'DELETED' || (object.status?.availableReplicas ?? 0) < 1);
  deepEqual(
    [...silent, ...empty].map(({ object }) => object.status),
    [],
    'something always answered',
  );
}

/** No status of this row's model said that only a person can help. */
export async function neverStalled(scene: Scene): Promise<void> {
  const models = await sightsOf(scene);
  const stalled = models.filter(({ object }) => conditionOf(object.status, 'Stalled')?.status === 'True');
  deepEqual(
    stalled.map(({ object }) => object.status?.message),
    [],
  );
}

/** Every revision of the model up to now. */
async function sightsOf(scene: Scene): Promise<Sight<MLModel>[]> {
  const { witness, name } = scene;
  await witness.caughtUp(MLModel, await scene.get());
  return witness.of(MLModel).filter(({ object }) => object.metadata.name === name);
}
