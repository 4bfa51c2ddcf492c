// Cutting streams into lines, whatever the pieces they come in.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { awkwardParts, linesOf, wholeLines } from './lines.ts';

const texts = fc.array(fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')));

test('whole lines come out in order, however the stream is cut', () => {
  fc.assert(
    fc.property(texts, fc.array(fc.nat(400)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const ends = [...cuts.filter((cut) => cut < bytes.length), 0, bytes.length].toSorted((a, b) => a - b);
      const take = wholeLines();
      const blocks = ends.slice(1).map((end, index) => take(bytes.subarray(ends[index], end)));
      for (const block of blocks) assert.ok(block.length === 0 || block.at(-1) === 0x0a, 'a block ends with a line');
      const back = blocks.flatMap((block) => [...linesOf(block)].map((line) => line.toString('utf8')));
      assert.deepEqual(
        back,
        lines.map((line) => `${Buffer.from(line).toString('utf8')}\n`),
      );
    }),
  );
});

test('a line in awkward parts is the same line, and no part but the first begins a character of several bytes', () => {
  const line = Buffer.from('{"name":"žluťoučký 🐎"}\n');
  const parts = awkwardParts(line);
  assert.deepEqual(Buffer.concat(parts), line);
  assert.ok(parts.every((part) => part.length > 0));
  assert.ok(
    parts.some((part) => part.toString('utf8').includes('\ufffd')),
    'a character is split',
  );
});
