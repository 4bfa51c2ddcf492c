// The rows were tried on a real node with containerd: what it mounts with files in it, what it mounts empty without a
// word, and what it refuses when the container starts.

import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { digestOf } from './digest.ts';
import { type Manifest, mediaType } from './manifest.ts';
import { mounting } from './mounting.ts';

const model = 'application/vnd.cncf.model';
const diffId = digestOf('a layer');
const blob = (type: string) => ({ mediaType: type, digest: diffId, size: 7 });
const manifest = (config: string, ...layers: string[]): Manifest => ({
  schemaVersion: 2,
  config: blob(config),
  layers: layers.map(blob),
});
const root = (...ids: unknown[]) => ({ os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: ids } });
const raw = 'application/octet-stream';
const weights = `${model}.weight.v1.tar`;

describe('is mounted', () => {
  const mounted: [string, Manifest, unknown][] = [
    ['image config and tar layer', manifest(mediaType.config, mediaType.layer), root(diffId)],
    [
      'image config and tar+gzip layers',
      manifest(mediaType.config, mediaType.layerGzip, mediaType.layer),
      root(diffId, diffId),
    ],
    ['image config and tar+zstd layer', manifest(mediaType.config, mediaType.layerZstd), root(diffId)],
    [
      'the same without os and architecture',
      manifest(mediaType.config, mediaType.layer),
      { rootfs: { diff_ids: [diffId] } },
    ],
    [
      'the same with an artifactType',
      { ...manifest(mediaType.config, mediaType.layer), artifactType: `${model}.manifest` },
      root(diffId),
    ],
    ['an image of Docker', manifest(mediaType.dockerConfig, mediaType.dockerLayer), root(diffId)],
  ];
  for (const [what, given, config] of mounted) test(what, () => deepEqual(mounting(given, config), { way: 'mount' }));
});

describe('is downloaded', () => {
  const modelConfig = `${model}.config.v1+json`;
  const downloaded: [string, Manifest, unknown, RegExp][] = [
    [
      'model config and model layers (mounted empty)',
      manifest(modelConfig, weights),
      undefined,
      /its config is .*model\.config/,
    ],
    ['empty config and raw layer (mounted empty)', manifest(mediaType.empty, raw), undefined, /its config is .*empty/],
    ['empty config and tar layer', manifest(mediaType.empty, mediaType.layer), {}, /its config is .*empty/],
    ['model config and tar layers', manifest(modelConfig, mediaType.layer), { modelfs: {} }, /its config is/],
    ['image config and model layers', manifest(mediaType.config, weights), root(diffId), /a layer is .*weight/],
    [
      'model config type, body with diff_ids, tar layers',
      manifest(modelConfig, mediaType.layer),
      root(diffId),
      /its config is/,
    ],
    [
      'fewer diff_ids than layers',
      manifest(mediaType.config, mediaType.layer, mediaType.layer),
      root(diffId),
      /names 1 layers, and it has 2/,
    ],
    ['a config without rootfs', manifest(mediaType.config, mediaType.layer), {}, /no rootfs\.diff_ids/],
    ['a config that is no JSON', manifest(mediaType.config, mediaType.layer), undefined, /no rootfs\.diff_ids/],
    ['no layers', manifest(mediaType.config), root(), /no layers/],
    ['an encrypted layer', manifest(mediaType.config, `${mediaType.layer}+encrypted`), root(diffId), /a layer is/],
    [
      'a layer with nothing in it',
      manifest(mediaType.config, mediaType.layer),
      root(digestOf(Buffer.alloc(1_024))),
      /empty/,
    ],
  ];
  for (const [what, given, config, why] of downloaded)
    test(what, () => {
      const judged = mounting(given, config);
      equal(judged.way, 'download');
      match('why' in judged ? judged.why : '', why);
    });
});
