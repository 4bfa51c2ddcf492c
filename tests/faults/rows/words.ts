// What several rows ask for: sources, simulated faults of one container, and what must have been true all the while.

import { deepEqual } from 'node:assert/strict';
import { exitCode, type LastWord, MLModel, sayLastWord } from '../../../src/api/index.ts';
import { conditionOf, Deployment } from '../../../src/objects/index.ts';
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

/** A download that leaves time for other things to happen. */
export const slow = download({ 'run-for': '8s' });

/** A download that ends for good. */
export const verdict = (word: Extract<LastWord, { result: 'verdict' }>) =>
  download({ 'exit-code': String(exitCode.verdict), message: sayLastWord(word) });

/** Since it was Ready for the first time, something answered at every moment, and that was said. */
export function neverWentDark({ witness, name }: Scene): void {
  const models = witness.of(MLModel).filter(({ object }) => object.metadata.name === name);
  const begun = models.findIndex(({ object }) => conditionOf(object.status, 'Ready')?.status === 'True');
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
export function neverStalled({ witness, name }: Scene): void {
  const stalled = witness
    .of(MLModel)
    .filter(({ object }) => object.metadata.name === name && conditionOf(object.status, 'Stalled')?.status === 'True');
  deepEqual(
    stalled.map(({ object }) => object.status?.message),
    [],
  );
}
