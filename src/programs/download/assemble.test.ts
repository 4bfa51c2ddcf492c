// What becomes of fetched files, on a real folder: archives and layers that hold nothing.

import { deepEqual, rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { tar } from '../../../tests/kit/archives/tar.ts';
import { assemble } from './assemble.ts';
import type { Becomes, Fetched } from './fetch/item.ts';
import { Refused } from './outcome.ts';
import { Volume } from './volume/volume.ts';

const root = mkdtempSync(join(tmpdir(), 'assemble-'));
after(() => rmSync(root, { recursive: true, force: true }));

const anything: Becomes = { as: 'anything' };
const layer: Becomes = { as: 'layer', kind: 'tar' };
const nothing = tar({ name: 'models/', type: '5' });
const url = 'oci://registry.example/iris:1';
let count = 0;

/** The places of what is left, in the order in which they are given. */
async function placesOf(...files: [path: string, becomes: Becomes, content: Buffer][]): Promise<string[]> {
  const volume = new Volume(join(root, String(count++)));
  await volume.open('source');
  const fetched = files.map(([path, becomes, content], index): Fetched => {
    const at = volume.own('parts', String(index));
    writeFileSync(at, content);
    return { path, becomes, at, bytes: content.length, sha256: '' };
  });
  const { signal } = new AbortController();
  const moves = await assemble(fetched, { volume, url, framework: 'custom', signal, room: async () => {} });
  return moves.map(([, to]) => to);
}

const empty = (said: RegExp) => (error: Error) =>
  error instanceof Refused && error.verdict === 'EmptySource' && said.test(error.message);

test('a layer may be without files, and an image may not', async () => {
  const model = tar({ name: 'models/iris', content: 'weights' });
  deepEqual(await placesOf(['0', layer, nothing], ['1', layer, model], ['2', layer, tar()]), ['models/iris']);
  await rejects(
    placesOf(['0', layer, nothing], ['1', layer, tar()]),
    empty(/layers of oci:\/\/registry\.example\/iris:1 have no files/),
  );
});

test('an image whose last layer takes everything away has no files', () =>
  rejects(placesOf(['0', layer, tar({ name: 'iris' })], ['1', layer, tar({ name: '.wh.iris' })]), empty(/no files/)));

test('an archive without files is no model', () =>
  rejects(placesOf(['models.tar', anything, nothing]), empty(/the archive has no files in it/)));
