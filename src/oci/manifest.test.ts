import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RegistryError } from './errors.ts';
import { largestManifest, mediaType, readDocument } from './manifest.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const config = { mediaType: mediaType.config, digest, size: 2 };
const layer = { mediaType: mediaType.layer, digest, size: 3 };
const manifest = { schemaVersion: 2, config, layers: [layer] };
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a document', () => {
  test('is what it says it is, before what the registry says', () => {
    const said = { ...manifest, mediaType: mediaType.dockerManifest };
    equal(readDocument(bytes(said), mediaType.index).descriptor.mediaType, mediaType.dockerManifest);
    equal(
      readDocument(bytes(manifest), `${mediaType.manifest}; charset=utf-8`).descriptor.mediaType,
      mediaType.manifest,
    );
  });

  test('that nobody names is known by its form', () => {
    equal(readDocument(bytes(manifest), 'application/json').descriptor.mediaType, mediaType.manifest);
    const index = { schemaVersion: 2, manifests: [{ ...config, mediaType: mediaType.manifest }] };
    const { content, descriptor } = readDocument(bytes(index), undefined);
    equal(descriptor.mediaType, mediaType.index);
    deepEqual('index' in content && content.index.manifests.length, 1);
  });

  const broken: [string, unknown, RegExp][] = [
    ['another version', { ...manifest, schemaVersion: 1 }, /schemaVersion/],
    ['a digest that is a path', { ...manifest, config: { ...config, digest: 'sha256:../../etc' } }, /config\.digest/],
    ['a negative size', { ...manifest, layers: [{ ...layer, size: -1 }] }, /layers\.0\.size/],
    ['half a byte', { ...manifest, layers: [{ ...layer, size: 1.5 }] }, /layers\.0\.size/],
    ['too many layers', { ...manifest, layers: Array.from({ length: 2_001 }, () => layer) }, /layers/],
    ['no config', { schemaVersion: 2, layers: [] }, /config/],
    ['a list', [], /not an image manifest/],
  ];
  for (const [what, value, why] of broken)
    test(`with ${what} is refused, and the field is named`, () => {
      const type = Array.isArray(value) ? 'text/html' : mediaType.manifest;
      throws(() => readDocument(bytes(value), type), { name: 'RegistryError', reason: 'Protocol', message: why });
    });

  test('that is too large is refused before it is read', () => {
    const large = Buffer.alloc(largestManifest + 1, 32);
    throws(() => readDocument(large, mediaType.manifest), { reason: 'TooLarge' });
  });

  test('whatever it holds, it is read or refused', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(mediaType.manifest, mediaType.index, 'x'), (value, type) => {
        try {
          readDocument(bytes(value), type);
        } catch (error) {
          equal(error instanceof RegistryError && error.reason, 'Protocol');
        }
      }),
    );
  });
});
