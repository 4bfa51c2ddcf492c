// A crash at any moment of the last steps: whatever is left, the next run ends with everything in its place.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { type Move, Volume } from './volume.ts';

const root = mkdtempSync(join(tmpdir(), 'volume-'));
after(() => rmSync(root, { recursive: true, force: true }));
let target = '';
let count = 0;
beforeEach(() => {
  target = join(root, String(count++));
});

const done = { source: 's', digest: 'sha256:1', bytes: 3 };
const moves: Move[] = [
  ['parts/a', 'a/model.onnx'],
  ['parts/b', 'a/labels'],
  ['parts/c', 'top'],
];
const all = ['.baton', '.baton/complete.json', 'a', 'a/labels', 'a/model.onnx', 'top'];
const tree = () => readdirSync(target, { recursive: true, encoding: 'utf8' }).toSorted();

async function fetched(): Promise<Volume> {
  const volume = new Volume(target);
  equal(await volume.open('s'), undefined);
  for (const name of ['a', 'b', 'c']) writeFileSync(volume.own('parts', name), name);
  return volume;
}

test('everything gets its place, and the marker says so', async () => {
  const volume = await fetched();
  const complete = { format: 1, ...done, entries: ['a', 'top'] };
  deepEqual(await volume.finish(done, moves), complete);
  deepEqual(tree(), all);
  deepEqual(await new Volume(target).open('s'), complete);
});

test('a crash between two moves is finished by the next run', async () => {
  for (let moved = 0; moved <= moves.length; moved++) {
    target = join(root, `crash-${moved}`);
    const volume = await fetched();
    const begun = { format: 1, ...done, entries: ['a', 'top'], moves };
    writeFileSync(volume.own('moving.json'), JSON.stringify(begun));
    mkdirSync(join(target, 'a'));
    for (const [from, to] of moves.slice(0, moved)) {
      cpSync(volume.own(from), join(target, to));
      rmSync(volume.own(from));
    }
    equal((await new Volume(target).open('s'))?.digest, 'sha256:1');
    deepEqual(tree(), all);
    equal(readFileSync(join(target, 'a/model.onnx'), 'utf8'), 'a');
  }
});

/** A crash after the first move, with the note that was written before it. */
async function halfMoved(): Promise<Volume> {
  const volume = await fetched();
  const begun = { format: 1, ...done, entries: ['a', 'top'], moves };
  writeFileSync(volume.own('moving.json'), JSON.stringify(begun));
  mkdirSync(join(target, 'a'));
  renameSync(volume.own('parts/a'), join(target, 'a/model.onnx'));
  return volume;
}

test('a move of another source that was begun makes room, and is not remembered', async () => {
  await halfMoved();
  const volume = new Volume(target);
  equal(await volume.open('other'), undefined);
  deepEqual(tree(), ['.baton', '.baton/parts']);
  writeFileSync(volume.own('parts', 'c'), 'c');
  await volume.finish({ ...done, source: 'other' }, [['parts/c', 'a']]);
  deepEqual(tree(), ['.baton', '.baton/complete.json', 'a']);
});

test('a move that cannot be finished is given up, and everything is fetched anew', async () => {
  const spoil: ((volume: Volume) => void)[] = [
    (volume) => rmSync(volume.own('parts/c')),
    () => mkdirSync(join(target, 'top/folder'), { recursive: true }),
  ];
  for (const [index, spoiled] of spoil.entries()) {
    target = join(root, `spoiled-${index}`);
    spoiled(await halfMoved());
    equal(await new Volume(target).open('s'), undefined);
    deepEqual(tree(), ['.baton', '.baton/parts']);
  }
});

test('a marker without what it speaks of is worth nothing', async () => {
  await (await fetched()).finish(done, moves);
  rmSync(join(target, 'top'));
  equal(await new Volume(target).open('s'), undefined);
  equal(existsSync(join(target, 'a')), false);
});

test('what another source left is removed, and what strangers left is not touched', async () => {
  await (await fetched()).finish(done, moves);
  mkdirSync(join(target, 'lost+found'));
  equal(await new Volume(target).open('other'), undefined);
  deepEqual(readdirSync(target).toSorted(), ['.baton', 'lost+found']);
  writeFileSync(join(target, 'top'), 'mine');
  writeFileSync(join(target, '.baton', 'parts', 'c'), 'c');
  await rejects(new Volume(target).finish(done, [['parts/c', 'top']]), {
    verdict: 'VolumeOccupied',
    message: /the volume holds "top" already/,
  });
  equal(readFileSync(join(target, 'top'), 'utf8'), 'mine');
});

test('a note that cannot be read is as good as none', async () => {
  const volume = await fetched();
  for (const text of ['', '{', '{"format":2}', '[]']) {
    writeFileSync(volume.own('complete.json'), text);
    writeFileSync(volume.own('moving.json'), text);
    equal(await new Volume(target).open('s'), undefined);
  }
});

test('what is left of a download counts by what it takes on the disk, not by its holes', async () => {
  const volume = await fetched();
  const mebibyte = 1024 * 1024;
  writeFileSync(volume.own('parts', 'a'), Buffer.alloc(mebibyte, 1), { flush: true });
  truncateSync(volume.own('parts', 'a'), 100 * mebibyte);
  equal(await volume.keepParts(new Set(['a'])), mebibyte);
  deepEqual(readdirSync(volume.own('parts')), ['a']);
});
