// Images and artifacts from a real registry, open and closed: what nodes could mount, and what they would mount as an
// empty folder.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { systemClock } from '../../src/base/index.ts';
import {
  type Descriptor,
  Layout,
  mediaType,
  pushBlob,
  pushManifest,
  referenceOf,
  Registry,
} from '../../src/oci/index.ts';
import { tar } from '../kit/archives/tar.ts';
import { Desk } from '../kit/downloads.ts';
import { pullSecret, startRegistry, type TestRegistry, user } from '../kit/registry.ts';

const weights = randomBytes(20 * 1024 * 1024);
const title = 'org.opencontainers.image.title';
const filepath = 'org.cncf.model.filepath';

interface Blob {
  type: string;
  bytes: Buffer;
  annotations?: Record<string, string>;
}

/** Puts a manifest of these layers into a registry; gives its digest. */
async function push(host: string, name: string, layers: Blob[], config: string = mediaType.empty): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'layout-'));
  await using client = new Registry({
    clock: systemClock,
    random: Math.random,
    plainHttp: [host],
    credentials: () => user,
  });
  try {
    const layout = await Layout.make(folder);
    const to = referenceOf(`${host}/${name}`);
    const sent = async ({ type, bytes, annotations }: Blob): Promise<Descriptor> => {
      const blob = await layout.writeBytes(bytes, type);
      await pushBlob(client, to, layout.source(blob));
      return { ...blob, ...(annotations && { annotations }) };
    };
    const settled = await sent({ type: config, bytes: Buffer.from('{}') });
    const all: Descriptor[] = [];
    for (const layer of layers) all.push(await sent(layer));
    const manifest = { schemaVersion: 2, mediaType: mediaType.manifest, config: settled, layers: all };
    const bytes = Buffer.from(JSON.stringify(manifest));
    return (await pushManifest(client, to, { bytes, mediaType: mediaType.manifest })).digest;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const layer = (bytes: Buffer, compression: '' | '+gzip' | '+zstd' = ''): Blob => ({
  type: `${mediaType.layer}${compression}`,
  bytes,
});
const raw = (bytes: Buffer, annotations: Record<string, string>): Blob => ({
  type: 'application/octet-stream',
  bytes,
  annotations,
});

describe('an open registry', { timeout: 120_000 }, () => {
  let registry: TestRegistry;
  before(async () => (registry = await startRegistry()));
  after(() => registry.stop());

  const fetchFrom = async (desk: Desk, name: string, args: string[] = []) =>
    desk.run(`oci://${registry.host}/${name}`, { args: [`--plain-http=${registry.host}`, ...args] });

  test('gives the layers of an image, one over the other', async () => {
    const digest = await push(
      registry.host,
      'models/iris:1',
      [
        layer(
          gzipSync(
            tar(
              { name: 'model.onnx', content: 'old' },
              { name: 'a/old', content: 'x' },
              { name: 'b/old', content: 'x' },
            ),
          ),
          '+gzip',
        ),
        layer(tar({ name: 'a/.wh.old' }, { name: 'b/.wh..wh..opq' }, { name: 'b/new', content: 'y' })),
        layer(zstdCompressSync(tar({ name: 'model.onnx', content: weights })), '+zstd'),
      ],
      mediaType.config,
    );
    using desk = new Desk();
    const word = await fetchFrom(desk, 'models/iris:1');
    equal(word.result === 'done' && word.digest, digest, JSON.stringify(word));
    deepEqual(Object.keys(desk.files()), ['b/new', 'model.onnx']);
    ok(Buffer.from(desk.files()['model.onnx'] ?? '', 'latin1').equals(weights));
  });

  test('gives an image of which some layers hold no files', async () => {
    const folders = layer(tar({ name: 'models/', type: '5' }));
    const model = layer(tar({ name: 'models/iris.onnx', content: 'weights' }));
    await push(registry.host, 'models/bare:1', [folders, model, layer(tar())], mediaType.config);
    using desk = new Desk();
    const word = await fetchFrom(desk, 'models/bare:1');
    equal(word.result, 'done', JSON.stringify(word));
    deepEqual(desk.files(), { 'models/iris.onnx': 'weights' });
  });

  test('gives files with titles, as other tools push them', async () => {
    const folder = { [title]: 'extra', 'io.deis.oras.content.unpack': 'true' };
    await push(registry.host, 'models/oras:1', [
      raw(weights, { [title]: 'iris.onnx' }),
      raw(Buffer.from('labels'), { [title]: 'meta/labels.txt' }),
      {
        type: 'application/vnd.oci.image.layer.v1.tar+gzip',
        bytes: gzipSync(tar({ name: 'extra/x', content: 'x' })),
        annotations: folder,
      },
    ]);
    using desk = new Desk();
    equal((await fetchFrom(desk, 'models/oras:1')).result, 'done');
    deepEqual(Object.keys(desk.files()), ['extra/x', 'iris.onnx', 'meta/labels.txt']);
  });

  test('gives a titled file in place of a folder of an earlier layer', async () => {
    await push(registry.host, 'models/over:1', [
      layer(tar({ name: 'models/model.onnx', content: 'old' }, { name: 'labels', content: 'x' })),
      raw(Buffer.from('notes'), { [title]: 'models' }),
      raw(Buffer.from('new'), { [title]: 'labels/iris.onnx' }),
    ]);
    using desk = new Desk();
    const word = await fetchFrom(desk, 'models/over:1');
    equal(word.result, 'done', JSON.stringify(word));
    deepEqual(desk.files(), { 'labels/iris.onnx': 'new', models: 'notes' });
  });

  test('gives the weights and code of a model, and not its papers', async () => {
    const of = (part: string, form: string, bytes: Buffer, path = ''): Blob => ({
      type: `application/vnd.cncf.model.${part}.v1.${form}`,
      bytes,
      ...(path !== '' && { annotations: { [filepath]: path } }),
    });
    await push(
      registry.host,
      'models/spec:1',
      [
        of('weight', 'raw', weights, 'model.onnx'),
        of('weight.config', 'tar', tar({ name: 'config.json', content: '{}' })),
        of('code', 'tar+gzip', gzipSync(tar({ name: 'code/run.py', content: '1' }))),
        of('doc', 'raw', Buffer.from('# Read me'), 'README.md'),
      ],
      'application/vnd.cncf.model.config.v1+json',
    );
    using desk = new Desk();
    equal((await fetchFrom(desk, 'models/spec:1')).result, 'done');
    deepEqual(Object.keys(desk.files()), ['code/run.py', 'config.json', 'model.onnx']);
  });

  test('gives what a digest names, whatever the tag means by now', async () => {
    const first = await push(registry.host, 'models/moving:1', [raw(Buffer.from('first'), { [title]: 'model.onnx' })]);
    await push(registry.host, 'models/moving:1', [raw(Buffer.from('second'), { [title]: 'model.onnx' })]);
    for (const [name, args] of [
      [`models/moving:1@${first}`, []],
      ['models/moving:1', [`--digest=${first}`]],
    ] as const) {
      using desk = new Desk();
      const word = await fetchFrom(desk, name, [...args]);
      equal(word.result === 'done' && word.digest, first, JSON.stringify(word));
      deepEqual(desk.files(), { 'model.onnx': 'first' });
    }
  });

  test('gives the image for this machine', async () => {
    const digest = await registry.push('models/both:1', 'index');
    using desk = new Desk();
    const word = await fetchFrom(desk, 'models/both:1');
    equal(word.result === 'done' && word.digest, digest, JSON.stringify(word));
    deepEqual(Object.keys(desk.files()), ['model.onnx']);
  });

  const bad: [string, Blob[], string, RegExp][] = [
    [
      'with a link in a layer',
      [layer(tar({ name: 'model.onnx', type: '2', link: '/etc/passwd' }))],
      'UnsafeArchive',
      /symbolic link/,
    ],
    [
      'with a title that leads out',
      [raw(Buffer.from('x'), { [title]: '../model.onnx' })],
      'UnsafeArchive',
      /leads out/,
    ],
    [
      'with two files of one title',
      [raw(Buffer.from('x'), { [title]: 'm.onnx' }), raw(Buffer.from('y'), { [title]: 'M.onnx' })],
      'UnsafeArchive',
      /twice/,
    ],
    [
      'whose layers hold no files',
      [layer(tar({ name: 'models/', type: '5' })), layer(tar())],
      'EmptySource',
      /the layers of oci:\/\/\S+\/models\/bad-\d:1 have no files/,
    ],
    ['of which nobody knows what it is', [raw(Buffer.from('x'), {})], 'EmptySource', /no layers that hold files/],
    ['without a model', [raw(Buffer.from('x'), { [title]: 'x.txt' })], 'EmptySource', /no \.onnx file/],
  ];
  for (const [index, [name, layers, verdict, said]] of bad.entries())
    test(`refuses an image ${name}`, async () => {
      await push(registry.host, `models/bad-${index}:1`, layers);
      using desk = new Desk();
      const word = await fetchFrom(desk, `models/bad-${index}:1`);
      ok(word.result === 'verdict' && word.verdict === verdict, JSON.stringify(word));
      match(word.message, said);
      deepEqual(desk.files(), {});
    });

  test('does not give what is not there', async () => {
    using desk = new Desk();
    const word = await fetchFrom(desk, 'models/nothing:1');
    ok(word.result === 'verdict' && word.verdict === 'SourceNotFound', JSON.stringify(word));
    const digest = `sha256:${createHash('sha256').update('nothing').digest('hex')}`;
    const other = await fetchFrom(desk, `models/nothing@${digest}`);
    ok(other.result === 'verdict' && other.verdict === 'SourceNotFound', JSON.stringify(other));
  });
});

describe('a closed registry', { timeout: 120_000 }, () => {
  let registry: TestRegistry;
  before(async () => {
    registry = await startRegistry({ open: false });
    await push(registry.host, 'models/iris:1', [raw(weights, { [title]: 'model.onnx' })]);
  });
  after(() => registry.stop());

  test('opens for a name and a password, or a pull secret, and not without', async () => {
    const url = `oci://${registry.host}/models/iris:1`;
    const args = [`--plain-http=${registry.host}`];
    using nobody = new Desk();
    const refused = await nobody.run(url, { args });
    ok(refused.result === 'verdict' && refused.verdict === 'SourceUnauthorized', JSON.stringify(refused));
    using own = new Desk();
    own.secret(user);
    const word = await own.run(url, { args });
    equal(word.result, 'done', JSON.stringify(word));
    equal(`${JSON.stringify(word)}${own.log}`.includes(user.password), false);
    using pulling = new Desk();
    mkdirSync(join(pulling.root, 'pull'));
    writeFileSync(join(pulling.root, 'pull', 'first'), pullSecret(registry.host));
    equal((await pulling.run(url, { args: [...args, `--pull-secrets=${pulling.root}/pull`] })).result, 'done');
  });
});
