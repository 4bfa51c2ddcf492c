// What a name means is told though the image is not one that anybody could read as weights.

import { deepEqual, equal } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { talk } from '../../../tests/kit/registry-talk.ts';
import { answer, type Reply } from '../../../tests/kit/scripted-peer.ts';
import { digestOf, mediaType, written } from '../../oci/index.ts';
import { digestAt, lookAt } from './look.ts';

const entry = (at: number, type: string) => ({
  mediaType: type,
  digest: digestOf(`${at}`),
  size: 2,
  platform: { os: 'linux', architecture: `a${at}` },
});
const indexOf = (count: number, type: string = mediaType.manifest): string =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaType.index,
    manifests: Array.from({ length: count }, (_, at) => entry(at, type)),
  });

/** A registry that has this index under its tag, and nothing of what it names. */
const holding =
  (index: string): Reply =>
  (socket, heard) => {
    const headers = { 'content-type': mediaType.index, 'docker-content-digest': digestOf(index) };
    if (!heard.path.endsWith('/1')) return answer(404, '{}')(socket, heard);
    if (heard.method !== 'HEAD') return answer(200, index, headers)(socket, heard);
    const lines = Object.entries({ ...headers, 'content-length': index.length }).map(
      ([key, value]) => `${key}: ${value}`,
    );
    socket.write(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`);
  };

describe('the digest behind a name', () => {
  for (const [name, index, asWeights] of [
    ['an index of which a mirror has only some images', indexOf(2), 'SourceNotFound'],
    ['an index of more platforms than are read', indexOf(33), 'EmptySource'],
  ] as const)
    test(`is told in one request, also of ${name}`, async () => {
      await using it = await talk([[holding(index)]]);
      const image = written(it.name());
      deepEqual(await digestAt(it.registry, image), { digest: digestOf(index) });
      deepEqual(
        it.peers[0]?.heard.map(({ method }) => method),
        ['HEAD'],
      );
      const looked = await lookAt(it.registry, image);
      equal('refused' in looked && looked.refused, asWeights, 'of weights, all images are read');
    });

  test('is refused in the words of the contract', async () => {
    await using it = await talk([[answer(404, '')]]);
    const looked = await digestAt(it.registry, written(it.name()));
    equal('refused' in looked && looked.refused, 'SourceNotFound');
    equal(((await digestAt(it.registry, 'just-a-name')) as { refused: string }).refused, 'SourceNotFound');
  });
});
