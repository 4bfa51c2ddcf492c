import { deepEqual, rejects, throws } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Check, checked, digestOf, isDigest, partsOf } from './digest.ts';

describe('a digest', () => {
  test('has a known algorithm and as many digits as that makes', () => {
    const right = [`sha256:${'0'.repeat(64)}`, `sha512:${'f'.repeat(128)}`];
    const wrong = ['', 'sha256:', `sha256:${'0'.repeat(63)}`, `SHA256:${'0'.repeat(64)}`, `sha256:${'A'.repeat(64)}`];
    const odd = [
      `md5:${'0'.repeat(32)}`,
      `sha256:${'0'.repeat(64)}/..`,
      `sha256:${'0'.repeat(64)}\n`,
      `toString:${'0'.repeat(64)}`,
    ];
    deepEqual(right.map(isDigest), [true, true]);
    deepEqual([...wrong, ...odd].filter(isDigest), []);
    throws(() => partsOf('sha256:../../etc/passwd'), { reason: 'Protocol' });
  });

  test('is taken over pieces as over the whole', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 50 }));
    fc.assert(
      fc.property(pieces, (given) => {
        const all = Buffer.concat(given);
        for (const digest of [digestOf(all), `sha512:${createHash('sha512').update(all).digest('hex')}`]) {
          const check = new Check({ digest, size: all.length });
          for (const piece of given) check.take(piece);
          check.finish();
        }
      }),
    );
  });

  test('tells one byte more, one less, and another one', () => {
    const expected = { digest: digestOf('abc'), size: 3 };
    const took = (text: string) => {
      const check = new Check(expected);
      check.take(Buffer.from(text));
      check.finish();
    };
    took('abc');
    throws(() => took('abcd'), { reason: 'Digest', message: /more than the 3 bytes/ });
    throws(() => took('ab'), { reason: 'Digest', message: /2 bytes instead of 3/ });
    throws(() => took('abd'), { reason: 'Digest', message: /other content/ });
  });

  test('stops bytes that are too many as soon as they come', async () => {
    let sent = 0;
    async function* endless() {
      for (;;) {
        sent += 1;
        yield Buffer.alloc(10);
      }
    }
    const given: number[] = [];
    await rejects(
      async () => {
        for await (const piece of checked(endless(), { digest: digestOf(''), size: 25 })) given.push(piece.length);
      },
      { reason: 'Digest' },
    );
    deepEqual([given, sent], [[10, 10], 3]);
  });
});
