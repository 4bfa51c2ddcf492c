import { deepEqual, equal, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { digestOf } from './digest.ts';
import { Layout } from './layout.ts';
import { mediaType } from './manifest.ts';

const folder = mkdtempSync(join(tmpdir(), 'layout-'));
after(() => rmSync(folder, { recursive: true }));
let layouts = 0;
const newLayout = () => Layout.make(join(folder, String((layouts += 1))));

async function* pieces(...all: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const piece of all) yield Buffer.from(piece);
}
const about = (bytes: Buffer | string) => ({ digest: digestOf(bytes), size: Buffer.byteLength(bytes) });
const left = (layout: Layout) => readdirSync(join(layout.folder, 'blobs')).filter((name) => name !== 'sha256');

describe('a layout', () => {
  test('is what the specification says', async () => {
    const layout = await newLayout();
    equal(readFileSync(join(layout.folder, 'oci-layout'), 'utf8'), '{"imageLayoutVersion":"1.0.0"}');
    const index = JSON.parse(readFileSync(join(layout.folder, 'index.json'), 'utf8')) as unknown;
    deepEqual(index, { schemaVersion: 2, mediaType: mediaType.index, manifests: [] });
    const { digest } = await layout.writeBytes(Buffer.from('{}'), mediaType.empty);
    equal(readFileSync(join(layout.folder, 'blobs', 'sha256', digest.slice(7)), 'utf8'), '{}');
  });

  test('keeps bytes of any size and in any pieces, and gives them back', async () => {
    const layout = await newLayout();
    const given = fc.array(fc.integer({ min: 0, max: 1_200_000 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(given, fc.nat(255), async (sizes, byte) => {
        const all = sizes.map((size, at) => Buffer.alloc(size, byte + at));
        const content = about(Buffer.concat(all));
        await layout.write(pieces(...all), content);
        equal(await layout.has(content), true);
        equal(digestOf(await layout.readWhole(content)), content.digest);
      }),
      { numRuns: 15 },
    );
    deepEqual(left(layout), []);
  });

  test('keeps blobs by other digests beside them', async () => {
    const layout = await newLayout();
    const digest = `sha512:${createHash('sha512').update('abc').digest('hex')}`;
    await layout.write(pieces('abc'), { digest, size: 3 });
    equal((await layout.readWhole({ digest, size: 3 })).toString(), 'abc');
  });

  test('has a blob only when all of it came and is right', async () => {
    const layout = await newLayout();
    async function* cut() {
      yield Buffer.from('ab');
      throw new Error('cut');
    }
    await rejects(layout.write(cut(), about('abc')), /cut/);
    await rejects(layout.write(pieces('abd'), about('abc')), { reason: 'Digest' });
    await rejects(layout.write(pieces('ab'), about('abc')), { reason: 'Digest' });
    equal(existsSync(layout.path(about('abc').digest)), false);
    deepEqual(left(layout), []);
  });

  test('tells when a blob was damaged later', async () => {
    const layout = await newLayout();
    await layout.write(pieces('abc'), about('abc'));
    writeFileSync(layout.path(about('abc').digest), 'abd');
    equal(await layout.has(about('abc')), true);
    await rejects(layout.readWhole(about('abc')), { reason: 'Digest' });
  });

  test('gives any part of a blob for an upload', async () => {
    const layout = await newLayout();
    const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, at) => at % 251));
    await layout.write(pieces(bytes), about(bytes));
    for (const [start, end] of [
      [0, 700_000],
      [1, 3],
      [262_143, 600_001],
      [5, 5],
    ] as const) {
      const found: Buffer[] = [];
      for await (const piece of layout.source(about(bytes)).open(start, end)) found.push(Buffer.from(piece));
      deepEqual(Buffer.concat(found).equals(bytes.subarray(start, end)), true);
    }
  });

  test('names images, one for a name', async () => {
    const layout = await newLayout();
    const one = await layout.writeBytes(Buffer.from('{"a":1}'), mediaType.manifest);
    const two = await layout.writeBytes(Buffer.from('{"a":2}'), mediaType.manifest);
    await layout.name(one, 'v1');
    await layout.name(one, 'v2');
    await layout.name(two, 'v2');
    equal((await layout.image('v2')).digest, two.digest);
    await rejects(layout.image(), /several images/);
    await rejects(layout.image('v3'), /no image called v3/);
    equal((await (await Layout.open(layout.folder)).image('v1')).digest, one.digest);
  });

  test('is not opened where there is none', async () => {
    await rejects(Layout.open(folder), /is not an OCI image layout/);
    const layout = await newLayout();
    writeFileSync(join(layout.folder, 'oci-layout'), '{"imageLayoutVersion":"2.0.0"}');
    await rejects(Layout.open(layout.folder), /version 2\.0\.0; 1\.0\.0 is known/);
  });
});
