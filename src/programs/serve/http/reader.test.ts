// Bytes come in whatever pieces the network likes: the requests in them must be the same. And what could be read in two
// ways is refused.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Limits, type Read, RequestReader } from './reader.ts';

const limits = (more: Partial<Limits> = {}): Limits => ({ head: 2_048, body: 200_000, reserve: () => true, ...more });

/** Everything that a reader makes of these pieces. */
function readAll(pieces: readonly Buffer[], reader = new RequestReader(limits())): Exclude<Read, undefined>[] {
  const found: Exclude<Read, undefined>[] = [];
  for (const piece of pieces) {
    reader.push(piece);
    for (let read = reader.next(); read !== undefined; read = reader.next()) {
      found.push(read);
      if (typeof read === 'object' && 'wrong' in read) return found;
    }
  }
  return found;
}

const head = (lines: readonly string[]) => Buffer.from([...lines, '', ''].join('\r\n'), 'latin1');
const post = (...lines: string[]) => head(['POST /x HTTP/1.1', 'Host: a', ...lines]);

const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));

/** A request on the wire, and the body that it must give. */
const sent = fc.oneof(
  body.map((bytes) => ({ wire: Buffer.concat([post(`Content-Length: ${bytes.length}`), bytes]), bytes })),
  fc
    .array(
      body.filter(({ length }) => length > 0),
      { maxLength: 4 },
    )
    .map((chunks) => ({
      wire: Buffer.concat([
        post('transfer-encoding: Chunked'),
        ...chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)};a=b\r\n`), chunk, Buffer.from('\r\n')]),
        Buffer.from('0\r\nTrailer: x\r\n\r\n'),
      ]),
      bytes: Buffer.concat(chunks),
    })),
);

function cut(wire: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (wire.length + 1)).toSorted((a, b) => a - b), wire.length];
  return at.slice(1).map((end, index) => wire.subarray(at[index], end));
}

describe('requests', () => {
  test('are the same, however their bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(sent, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (all, places) => {
          const read = readAll(cut(Buffer.concat(all.map(({ wire }) => wire)), places));
          const bodies = read.map((one) => (typeof one === 'object' && 'request' in one ? one.request.body : one));
          deepEqual(
            bodies,
            all.map(({ bytes }) => bytes),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  test('never break the reader, whatever the bytes are', () => {
    const alphabet = fc.constantFrom(
      ...'GET /\r\n:HTP1.0;chunked,Content-Lengh: 9Transfer'.split(''),
      '\r\n',
      '\r\n\r\n',
      '\0',
      'ÿ',
    );
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 200 }), (text) => {
        readAll([head(['GET / HTTP/1.1', 'Host: a']), Buffer.from(text.join(''), 'latin1')]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('that are large lie in memory once, and are given back', () => {
    let taken = 0;
    let most = 0;
    const reserve = (bytes: number) => {
      taken += bytes;
      most = Math.max(most, taken);
      return true;
    };
    const reader = new RequestReader(limits({ reserve }));
    const bytes = Buffer.alloc(150_000, 7);
    const [read] = readAll(cut(Buffer.concat([post('Content-Length: 150000'), bytes]), [100, 70_000]), reader);
    ok(typeof read === 'object' && 'request' in read && read.request.body.equals(bytes));
    equal(most, 150_000);
    reader.release();
    equal(taken, 0);
  });

  test('whose body is held back are asked for it, once', () => {
    const reader = new RequestReader(limits());
    deepEqual(readAll([post('Content-Length: 3', 'Expect: 100-continue')], reader), ['send the body']);
    const [read] = readAll([Buffer.from('ab'), Buffer.from('c')], reader);
    ok(typeof read === 'object' && 'request' in read && read.request.body.toString() === 'abc');
  });
});

describe('what is refused', () => {
  const rows: { name: string; wire: Buffer; status: number; reserve?: () => boolean }[] = [
    { name: 'no request at all', wire: head(['hello']), status: 400 },
    { name: 'another protocol', wire: head(['GET / HTTP/2.0', 'Host: a']), status: 400 },
    { name: 'no host', wire: head(['GET / HTTP/1.1']), status: 400 },
    { name: 'a folded header', wire: post('A: b', ' c'), status: 400 },
    { name: 'a space before the colon', wire: post('Content-Length : 3'), status: 400 },
    { name: 'a bare line feed in a header', wire: post('A: b\nContent-Length: 3'), status: 400 },
    { name: 'two lengths', wire: post('Content-Length: 3', 'Content-Length: 3'), status: 400 },
    { name: 'a length and chunks', wire: post('Content-Length: 3', 'Transfer-Encoding: chunked'), status: 400 },
    { name: 'a negative length', wire: post('Content-Length: -3'), status: 400 },
    { name: 'a length that is a sum', wire: post('Content-Length: 3, 3'), status: 400 },
    { name: 'an unknown transfer coding', wire: post('Transfer-Encoding: gzip, chunked'), status: 400 },
    { name: 'chunks in HTTP/1.0', wire: head(['POST / HTTP/1.0', 'Transfer-Encoding: chunked']), status: 400 },
    {
      name: 'a chunk without a size',
      wire: Buffer.concat([post('Transfer-Encoding: chunked'), Buffer.from('x\r\n')]),
      status: 400,
    },
    {
      name: 'a chunk longer than its size',
      wire: Buffer.concat([post('Transfer-Encoding: chunked'), Buffer.from('1\r\nab\r\n')]),
      status: 400,
    },
    { name: 'a body over the limit', wire: post('Content-Length: 200001'), status: 413 },
    {
      name: 'chunks over the limit',
      wire: Buffer.concat([post('Transfer-Encoding: chunked'), Buffer.from('30d41\r\n')]),
      status: 413,
    },
    { name: 'a head over the limit', wire: post(`A: ${'b'.repeat(3_000)}`), status: 431 },
    { name: 'a head without end', wire: Buffer.from(`GET / HTTP/1.1\r\nA: ${'b'.repeat(3_000)}`), status: 431 },
    { name: 'more than there is memory for', wire: post('Content-Length: 100000'), status: 503, reserve: () => false },
  ];
  for (const { name, wire, status, reserve } of rows)
    test(name, () => {
      const [read] = readAll([wire], new RequestReader(limits(reserve && { reserve })));
      ok(typeof read === 'object' && 'wrong' in read, JSON.stringify(read));
      equal(read.wrong.status, status);
    });
});
