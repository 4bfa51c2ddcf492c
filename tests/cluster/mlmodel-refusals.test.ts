// What the API server says of a model that makes no sense, before anybody acts on it: the field, and the way out.

import { match, rejects } from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MLModel } from '../../src/api/index.ts';
import { product, type Rig, startRig } from '../kit/rig.ts';

let rig: Rig;
let namespace: string;
before(async () => {
  rig = await startRig({ controllers: 'none' }, product);
  namespace = await rig.namespace();
});
after(() => rig.stop());

const taken = (modelURL: string, own: object = {}) =>
  rig.apply(MLModel, {
    metadata: { namespace, name: 'iris' },
    spec: { modelURL, framework: 'onnx', ...(!modelURL.startsWith('pvc:') && { storageSize: '1Gi' }), ...own },
  });

const refused = (modelURL: string, words: RegExp) =>
  rejects(taken(modelURL), (error: Error) => {
    match(error.message, /spec\.modelURL/);
    match(error.message, words);
    return true;
  });

describe('a source', () => {
  test('that names a user is refused, and only such a one', async () => {
    for (const url of ['https://me@e.x/a', 'https://me:secret@e.x', 's3://key:secret@bucket/a?b@c'])
      await refused(url, /name a Secret in credentials/);
    for (const url of ['https://e.x?u=a@b', 'https://e.x/a@b', 'https://e.x#a@b', 'hf://org/model@main'])
      await taken(url);
  });

  test('on a claim must be the name of one, of whatever length', async () => {
    for (const claim of ['Shelf', '-a', 'a-', 'a..b', 'a.-b', 'a_b', 'x'.repeat(254)])
      await refused(`pvc://${claim}/a`, /with the name of a claim in the same namespace/);
    for (const claim of ['a', 'a.b-c', `${'x'.repeat(63)}.${'y'.repeat(189)}`]) await taken(`pvc://${claim}/a`);
  });

  test('on a claim does not lead out of it', async () => {
    for (const path of ['..', '../a', 'a/../b', 'a/..', 'a/../'])
      await refused(`pvc://shelf/${path}`, /leave \.\. out of the path/);
    for (const path of ['', 'a', 'a/b/', 'a..b/..c/d..', '...']) await taken(`pvc://shelf/${path}`);
  });
});
