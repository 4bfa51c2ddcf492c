import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Chunks } from './chunks.ts';
import { framingOf, parseHead } from './head.ts';

const head = (...lines: string[]) => parseHead(['HTTP/1.1 200 OK', ...lines].join('\r\n'), 'host');

describe('a head', () => {
  test('is read whatever the case of its names', () => {
    const { status, headers, keep } = head('ETag: "x"', 'X-Two: a', 'x-two:  b\t', 'Empty:');
    deepEqual([status, keep], [200, true]);
    deepEqual(
      [...headers],
      [
        ['etag', '"x"'],
        ['x-two', 'a, b'],
        ['empty', ''],
      ],
    );
  });

  test('says whether the connection stays', () => {
    equal(head('Connection: Close').keep, false);
    equal(parseHead('HTTP/1.0 200 OK', 'host').keep, false);
    equal(parseHead('HTTP/1.0 200 OK\r\nconnection: keep-alive', 'host').keep, true);
  });

  for (const text of [
    '',
    'HTTP/2 200',
    'HTTP/1.1 20',
    'HTTP/1.1 200 OK\nx: y',
    'HTTP/1.1 200 OK\r\n x: y',
    'HTTP/1.1 200 OK\r\nx : y',
    'HTTP/1.1 200 OK\r\nx\r\n',
    'HTTP/1.1 200 OK\r\nx: \0',
  ])
    test(`${JSON.stringify(text)} is none`, () =>
      throws(() => parseHead(text, 'host'), /host answered with something that is not HTTP/));
});

describe('the length of a body', () => {
  test('is told in one way', () => {
    deepEqual(framingOf(head('content-length: 12'), 'host'), { by: 'length', length: 12 });
    deepEqual(framingOf(head('content-length: 12', 'content-length: 12'), 'host'), { by: 'length', length: 12 });
    deepEqual(framingOf(head('Transfer-Encoding: Chunked'), 'host'), { by: 'chunks' });
    deepEqual(framingOf(head(), 'host'), { by: 'close' });
  });

  for (const fields of [
    ['content-length: 1', 'content-length: 2'],
    ['content-length: -1'],
    ['content-length: 0x10'],
    ['content-length: 1e3'],
    ['content-length: 99999999999999999999'],
    ['content-length: '],
    ['transfer-encoding: gzip, chunked'],
    ['transfer-encoding: chunked', 'transfer-encoding: chunked'],
    ['transfer-encoding: chunked', 'content-length: 3'],
  ])
    test(`${fields.join(', ')} is not clear`, () =>
      throws(() => framingOf(head(...fields), 'host'), /does not say clearly/));
});

describe('chunks', () => {
  const written = (parts: Buffer[], rest: string) =>
    Buffer.concat([
      ...parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)};x=y\r\n`), part, Buffer.from('\r\n')]),
      Buffer.from('0\r\nt: r\r\n\r\n'),
      Buffer.from(rest),
    ]);

  test('give the payload, however they are cut on the way', () => {
    const part = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(
        fc.array(part),
        fc.array(fc.integer({ min: 1, max: 9 })),
        fc.string({ maxLength: 5 }),
        (parts, cuts, behind) => {
          const bytes = written(parts, behind);
          const chunks = new Chunks('host');
          const payload: Buffer[] = [];
          let rest = Buffer.alloc(0);
          for (let at = 0, n = 0; at < bytes.length; n++) {
            const step = cuts[n % Math.max(1, cuts.length)] ?? bytes.length;
            const taken = chunks.take(bytes.subarray(at, at + step));
            payload.push(...taken.payload);
            rest = Buffer.concat([rest, taken.rest]);
            at += step;
          }
          equal(chunks.done, true);
          deepEqual(Buffer.concat(payload), Buffer.concat(parts));
          equal(rest.toString(), behind);
        },
      ),
    );
  });

  for (const text of ['zz\r\n', '-1\r\n', '\r\n', '1\nx', '1\r\nxy\r\n', `${'1'.repeat(20)}\r\n`, '1'.repeat(5_000)])
    test(`${JSON.stringify(text.slice(0, 30))} are none`, () =>
      throws(() => new Chunks('host').take(Buffer.from(text)), /do not fit together/));
});
