// Forty archives and more: those that are refused, each with the entry that is the reason, and those that are not. The
// folder is looked at from outside afterwards: nothing may be in it that is not a file or folder, and nothing beside it.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { longName, pax, tar, tarEntry } from '../../../../tests/kit/archives/tar.ts';
import { zip, type ZipEntry } from '../../../../tests/kit/archives/zip.ts';
import { Refused } from '../outcome.ts';
import { archiveKind, unpack, usualLimits } from './index.ts';

const root = mkdtempSync(join(tmpdir(), 'archives-'));
after(() => rmSync(root, { recursive: true, force: true }));

const fine = { name: 'model.onnx', content: 'weights' };
const big = Buffer.alloc(80 * 1024 * 1024);
const outer = '/tmp/baton-escaped';

interface Case {
  name: string;
  bytes: Buffer;
  /** What is in the folder afterwards, or what the refusal says. */
  expected: readonly string[] | RegExp;
  file?: string;
  /** The most entries, where it is not the usual number. */
  entries?: number;
}

const refusedTars: [string, Buffer, RegExp][] = [
  ['leads out of the folder', tar(fine, { name: '../escaped', content: 'x' }), /"\.\.\/escaped": it leads out/],
  ['leads out half-way', tar({ name: 'a/../../escaped', content: 'x' }), /"a\/\.\.\/\.\.\/escaped": it leads out/],
  ['is absolute', tar({ name: outer, content: 'x' }), /absolute path/],
  ['is absolute through its prefix', tar({ name: 'escaped', prefix: '/tmp', content: 'x' }), /absolute path/],
  [
    'leads out by its long name',
    tar(longName(`${'d/'.repeat(80)}../../x`), { name: 'short', content: 'x' }),
    /leads out/,
  ],
  ['leads out by its pax name', tar(pax({ path: '../escaped' }), { name: 'short', content: 'x' }), /leads out/],
  [
    'is a symbolic link',
    tar({ name: 'link', type: '2', link: '/etc' }, { name: 'link/x', content: 'x' }),
    /"link": it is a symbolic link/,
  ],
  ['is a link to a neighbour', tar(fine, { name: 'link', type: '2', link: 'model.onnx' }), /symbolic link/],
  ['is a hard link', tar({ name: 'hard', type: '1', link: '/etc/passwd' }), /"hard": it is a hard link/],
  ['is a character device', tar({ name: 'null', type: '3' }), /"null": it is a device/],
  ['is a block device', tar({ name: 'disk', type: '4' }), /"disk": it is a device/],
  ['is a named pipe', tar({ name: 'pipe', type: '6' }), /"pipe": it is a named pipe/],
  ['is sparse in the old way', tar({ name: 'holes', type: 'S', content: 'x' }), /"holes": it is of an unknown kind/],
  ['is sparse in the new way', tar(pax({ 'GNU.sparse.major': '1' }), { name: 'holes', content: 'x' }), /sparse file/],
  ['is there twice', tar(fine, fine), /"model.onnx": it is there twice/],
  ['is there twice but for case', tar(fine, { name: 'Model.ONNX', content: 'x' }), /twice, once as "model.onnx"/],
  [
    'is there twice but for composition',
    tar({ name: 'é', content: 'x' }, { name: 'e\u0301', content: 'x' }),
    /there twice/,
  ],
  [
    'is a file and then a folder',
    tar({ name: 'a', content: 'x' }, { name: 'a/b', content: 'x' }),
    /"a\/b": it is there twice/,
  ],
  [
    'is a folder and then a file',
    tar({ name: 'a/b', content: 'x' }, { name: 'a', content: 'x' }),
    /"a": it is there twice/,
  ],
  ['has a part that is too long', tar(longName('n'.repeat(300)), { name: 'n', content: 'x' }), /longer than 255 bytes/],
  [
    'has a path that is too long',
    tar(pax({ path: 'd/'.repeat(1_000) + 'x' }), { name: 'n', content: 'x' }),
    /longer than 1024 bytes/,
  ],
  ['is too deep', tar(pax({ path: 'd/'.repeat(100) + 'x' }), { name: 'n', content: 'x' }), /folders deep/],
  ['has a line end in its name', tar({ name: 'a\nb', content: 'x' }), /cannot be shown/],
  [
    'has a name that is not UTF-8',
    tar(Buffer.from(tarEntry({ name: 'a\u00ff', content: 'x' }))).fill(0xff, 1, 2),
    /cannot be read|cannot be shown/,
  ],
  ['has a backslash', tar({ name: 'a\\b', content: 'x' }), /backslash/],
  ['is in our own folder', tar({ name: '.baton/complete.json', content: '{}' }), /folder of the download itself/],
  ['is longer than the archive', tar({ name: 'short', content: 'x', size: 10 ** 9 }), /cannot be read|more than/],
  [
    'has a negative size',
    tar({ name: 'minus', size: Buffer.from('ffffffffffffffffffffff9c', 'hex') }),
    /cannot be read/,
  ],
  ['has a wrong checksum', tar(fine, { name: 'sum', content: 'x', checksum: '777777\0 ' }), /cannot be read/],
  [
    'has a header of many megabytes',
    tar(tarEntry({ name: 'pax', type: 'x', content: Buffer.alloc(5 * 1024 * 1024, 'a') }), fine),
    /cannot be read/,
  ],
];

const symlink = 0o120777;
const shared: ZipEntry = {
  name: 'second',
  content: 'x'.repeat(100),
  central: { offset: 0 },
  local: { name: 'model.onnx' },
};

const refusedZips: [string, Buffer, RegExp][] = [
  ['leads out of the folder', zip([{ name: '../escaped', content: 'x' }]), /"\.\.\/escaped": it leads out/],
  ['is absolute', zip([{ name: outer, content: 'x' }]), /absolute path/],
  ['is on a drive', zip([{ name: 'C:/escaped', content: 'x' }]), /absolute path/],
  ['has a backslash', zip([{ name: 'a\\..\\b', content: 'x' }]), /leads out|backslash/],
  ['is a symbolic link', zip([{ name: 'link', content: '/etc/passwd', mode: symlink }]), /"link": it is a link/],
  ['is there twice', zip([fine, fine]), /"model.onnx": it is there twice/],
  ['is encrypted', zip([{ ...fine, method: 'deflated', flags: 0x801 }]), /"model.onnx": it is encrypted/],
  ['has another name in front', zip([{ ...fine, local: { name: 'x.onnx' } }]), /another name in front/],
  ['has another size in front', zip([{ ...fine, local: { size: 3 } }]), /another size in front/],
  ['is packed otherwise in front', zip([{ ...fine, local: { method: 8 } }]), /packed otherwise/],
  ['shares its bytes', zip([{ ...fine, content: 'x'.repeat(100) }, shared]), /another name in front|shares its bytes/],
  ['has a wrong checksum', zip([{ ...fine, local: { crc: 1 }, central: { crc: 1 } }]), /checksum is wrong/],
  [
    'says a smaller size than it has',
    zip([
      { name: 'lie', content: Buffer.alloc(5_000), method: 'deflated', local: { size: 10 }, central: { size: 10 } },
    ]),
    /cannot be read/,
  ],
  [
    'says that it is larger than all',
    zip([
      {
        name: 'lie',
        content: 'x',
        central: { size: 2 ** 31, packed: 2 ** 31 },
        local: { size: 2 ** 31, packed: 2 ** 31 },
      },
    ]),
    /unpacks to more|cannot be read/,
  ],
  ['is packed in an unknown way', zip([{ ...fine, method: 99 }]), /compressed in a way \(99\)/],
  ['has more entries than it could', zip([fine], { zip64Entries: 2n ** 40n }), /more than 100000 entries/],
  ['has more entries than are there', zip([fine], { entries: 3 }), /cannot be read/],
  ['is cut off', zip([fine]).subarray(0, -10), /cannot be read/],
];

const others: Case[] = [
  {
    name: 'a bomb in tar.gz',
    bytes: gzipSync(tar({ name: 'zeros', content: big })),
    expected: /"zeros": the whole unpacks to more than/,
  },
  {
    name: 'a bomb behind the end of a tar.gz',
    bytes: gzipSync(Buffer.concat([tar(fine), big])),
    expected: /unpacks to more than/,
  },
  {
    name: 'a bomb in zip',
    bytes: zip([{ name: 'zeros', content: big, method: 'deflated' }]),
    expected: /"zeros": the whole unpacks to more/,
  },
  {
    name: 'a tar with too many entries',
    bytes: tar(...Array.from({ length: 25 }, (_, n) => ({ name: `f${n}` }))),
    entries: 20,
    expected: /"f20": there are more than 20 entries/,
  },
  { name: 'a tar.gz that is cut off', bytes: gzipSync(tar(fine)).subarray(0, -20), expected: /cannot be read/ },
  {
    name: 'a name that lies',
    bytes: Buffer.from('not an archive at all'),
    file: 'model.tar.gz',
    expected: /is named like an archive, and is none/,
  },
  { name: 'an archive with nothing in it', bytes: tar({ name: 'folder/', type: '5' }), expected: ['folder'] },
  { name: 'an empty zip', bytes: zip([]), expected: [] },
  {
    name: 'a plain tar',
    bytes: tar({ name: './', type: '5' }, { name: './a/', type: '5' }, { name: './a/model.onnx', content: 'weights' }),
    expected: ['a', 'a/model.onnx'],
  },
  { name: 'a tar.gz under another name', bytes: gzipSync(tar(fine)), file: 'download', expected: ['model.onnx'] },
  {
    name: 'a tar with long names',
    bytes: tar(longName(`${'d'.repeat(120)}/x`), { name: 'n', content: 'x' }),
    expected: ['d'.repeat(120), `${'d'.repeat(120)}/x`],
  },
  {
    name: 'a zip, stored and deflated',
    bytes: zip([
      { name: 'a/', mode: 0o40755 },
      { name: 'a/x', content: 'x' },
      { name: 'y', content: 'y'.repeat(999), method: 'deflated' },
    ]),
    expected: ['a', 'a/x', 'y'],
  },
  {
    name: 'sizes behind the content',
    bytes: zip([{ ...fine, method: 'deflated', flags: 0x808, local: { size: 0, packed: 0, crc: 0 } }]),
    expected: ['model.onnx'],
  },
];

const cases: Case[] = [
  ...refusedTars.map(([name, bytes, expected]) => ({ name: `a tar with an entry that ${name}`, bytes, expected })),
  ...refusedZips.map(([name, bytes, expected]) => ({ name: `a zip with an entry that ${name}`, bytes, expected })),
  ...others,
];

async function outcome(
  { bytes, file = 'download', entries = usualLimits.entries }: Case,
  folder: string,
): Promise<readonly string[] | Error> {
  const path = join(folder, 'archive');
  const into = join(folder, 'tree');
  mkdirSync(into, { recursive: true });
  writeFileSync(path, bytes);
  const limits = { ...usualLimits, entries };
  try {
    const kind = await archiveKind(path, file);
    ok(kind);
    await unpack({ path, kind, into, limits, signal: new AbortController().signal, room: async () => {} });
    return readdirSync(into, { recursive: true, encoding: 'utf8' }).toSorted();
  } catch (error) {
    return error as Error;
  }
}

/** Nothing but files and folders, and those only where they belong. */
function lookAround(folder: string): void {
  deepEqual(readdirSync(folder).toSorted(), ['archive', 'tree']);
  for (const path of readdirSync(join(folder, 'tree'), { recursive: true, encoding: 'utf8' })) {
    const stat = lstatSync(join(folder, 'tree', path));
    ok(stat.isFile() || stat.isDirectory(), `${path} is neither file nor folder`);
    equal(stat.nlink > 1 && stat.isFile(), false);
  }
  equal(lstatSync(outer, { throwIfNoEntry: false }), undefined);
}

describe('the corpus of archives', () => {
  test('has at least forty of them', () => ok(cases.length >= 40, `${cases.length}`));

  for (const [index, one] of cases.entries())
    test(one.name, { timeout: 60_000 }, async () => {
      const folder = join(root, String(index));
      const found = await outcome(one, folder);
      lookAround(folder);
      if (one.expected instanceof RegExp) {
        ok(found instanceof Refused, `unpacked or failed otherwise: ${String(found)}`);
        match(found.message, one.expected);
      } else deepEqual(found, one.expected);
      if (Array.isArray(found) && found.includes('model.onnx'))
        equal(readFileSync(join(folder, 'tree', 'model.onnx'), 'utf8'), 'weights');
    });
});

test('formats of models that are archives inside are left as they are', async () => {
  const path = join(root, 'model.pt');
  writeFileSync(path, zip([fine]));
  equal(await archiveKind(path, 'model.pt'), undefined);
  equal(await archiveKind(path, 'model.zip'), 'zip');
});
