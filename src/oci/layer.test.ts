import { deepEqual, equal, notEqual, ok, rejects, throws } from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { extract, type Header } from 'tar-stream';
import { digestOf } from './digest.ts';
import { buildLayer, type LayerOptions } from './layer.ts';
import { Layout } from './layout.ts';
import { type Entry, sorted } from './tar.ts';

const folder = mkdtempSync(join(tmpdir(), 'layer-'));
after(() => rmSync(folder, { recursive: true }));
let layouts = 0;
const newLayout = () => Layout.make(join(folder, String((layouts += 1))));

const text = (path: string, content: string, mode = 0o644): Entry => ({
  path,
  type: 'file',
  mode,
  content: Buffer.from(content),
});
const some: Entry[] = [
  text('b/two', 'zwei', 0o755),
  text('b/a/one', 'eins'),
  { path: '/tmp', type: 'folder', mode: 0o1777 },
  { path: 'link', type: 'link', target: 'b/two' },
];

async function built(entries: readonly Entry[], options?: LayerOptions) {
  const layout = await newLayout();
  const layer = await buildLayer(layout, entries, options);
  return { layout, layer, bytes: readFileSync(layout.path(layer.descriptor.digest)) };
}

async function listed(archive: Buffer): Promise<[Header, string][]> {
  const found: [Header, string][] = [];
  const reader = extract();
  reader.end(archive);
  for await (const entry of reader) {
    const pieces: Buffer[] = [];
    for await (const piece of entry) pieces.push(piece as Buffer);
    found.push([entry.header, Buffer.concat(pieces).toString()]);
  }
  return found;
}

describe('a layer', () => {
  test('holds the files with their modes, without times, and folders before what is in them', async () => {
    const { bytes } = await built(some, { owner: { uid: 7, gid: 8 } });
    const entries = await listed(gunzipSync(bytes));
    deepEqual(
      entries.map(([{ name, type, mode }, content]) => [name, type, mode?.toString(8), content]),
      [
        ['b/', 'directory', '755', ''],
        ['b/a/', 'directory', '755', ''],
        ['b/a/one', 'file', '644', 'eins'],
        ['b/two', 'file', '755', 'zwei'],
        ['link', 'symlink', '777', ''],
        ['tmp/', 'directory', '1777', ''],
      ],
    );
    for (const [{ uid, gid, mtime, uname }] of entries) deepEqual([uid, gid, mtime?.getTime(), uname], [7, 8, 0, '']);
    equal(entries[4]?.[0].linkname, 'b/two');
  });

  test('has the digests of what was written, and of what it unpacks to', async () => {
    const { layer, bytes } = await built(some);
    const archive = gunzipSync(bytes);
    deepEqual(
      [layer.descriptor.digest, layer.descriptor.size, layer.diffId, layer.unpacked],
      [digestOf(bytes), bytes.length, digestOf(archive), archive.length],
    );
    const plain = await built(some, { compression: 'none' });
    deepEqual([plain.layer.descriptor.digest, plain.layer.diffId], [layer.diffId, layer.diffId]);
    ok(plain.bytes.equals(archive));
  });

  test('names neither a time nor a system in the head of its compression', async () => {
    const { bytes } = await built(some);
    deepEqual([...bytes.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  });

  test('is the same whatever the order of its entries', async () => {
    const { layer } = await built(some);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(some, { minLength: some.length }), async (entries) => {
        equal((await built(entries)).layer.descriptor.digest, layer.descriptor.digest);
      }),
      { numRuns: 10 },
    );
    notEqual((await built([...some, text('c', '')])).layer.diffId, layer.diffId);
  });

  test('takes files from disk, of any size and with long names', async () => {
    const [file, size] = [join(folder, 'large'), 3_000_001];
    writeFileSync(file, Buffer.alloc(size, 'x'));
    const name = `${'deep/'.repeat(60)}file`;
    const { bytes } = await built([{ path: name, type: 'file', mode: 0o644, content: { file, size } }]);
    const last = (await listed(gunzipSync(bytes))).at(-1);
    deepEqual([last?.[0].name, last?.[1].length], [name, size]);
  });

  test('leaves nothing behind when a file is not there, or not of its size', async () => {
    for (const content of [
      { file: join(folder, 'missing'), size: 3 },
      { file: import.meta.filename, size: 3 },
    ]) {
      const layout = await newLayout();
      await rejects(buildLayer(layout, [{ path: 'x', type: 'file', mode: 0o644, content }]));
      deepEqual(
        readdirSync(layout.folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.startsWith('blobs/')),
        ['blobs/sha256'],
      );
    }
  });

  test('takes no name twice, and none that leads out', () => {
    throws(() => sorted([text('a/b', '1'), text('/a//b', '2')]), /a\/b twice/);
    for (const path of ['../x', 'a/../../x', '.', '/'])
      throws(() => sorted([text(path, '')]), /cannot be in an archive/);
  });
});
